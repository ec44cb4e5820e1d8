// Package redlock is the lock on a majority of Redis servers that know nothing of each other.
package redlock

import (
	"fmt"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
	"recount/targets/systems"
	"recount/targets/systems/redis"
)

// redlock is a lock on a majority of Redis servers that know nothing of each other. What is said of it:
//
//   - its author, with what a restart without persistence does to it:
//     https://redis.io/docs/latest/develop/use/patterns/distributed-locks/#performance-crash-recovery-and-fsync
//   - what it lacks: https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html
//   - the client: https://pkg.go.dev/github.com/go-redsync/redsync/v4
func init() {
	targets.Register(&targets.Target{
		Name:    "redlock",
		About:   "candidates that take a lock on a majority of independent Redis servers, with go-redsync; it numbers no leaderships",
		Source:  "https://redis.io/docs/latest/develop/use/patterns/distributed-locks/",
		NoTerms: true,
		Options: []targets.Option{
			{Name: "version", Kind: targets.Choice, Default: redis.Version, Choices: []string{redis.Version}, About: "of the servers"},
			{Name: "client", Kind: targets.Text, Default: "4.13.0", About: "version of go-redsync/redsync: 4.10 to 4.19"},
			systems.ServersOption("3"),
			{Name: "expiry", Kind: targets.Duration, Default: "8s", About: "how long a lock lasts that is not extended; it is each third of that"},
			{
				Name: "persistence", Kind: targets.Choice, Default: "always", Choices: []string{"always", "none"},
				About: "always: servers write each lock to disk before they answer; none: they forget it in a restart",
			},
		},
		Promises: systems.OnServersDisks([]targets.Promise{
			{
				Property: "exclusive-leadership",
				While:    "no clock is wrong, and no answer slow or a candidate paused",
				Unless:   func(did history.Changes) bool { return len(did.Clocks) > 0 || targets.SlowsAnswers(did) },
			},
			{Property: "sticky-leader", While: systems.ReachesServers, Suspended: systems.TouchesServers},
			{Property: "no-ping-pong", While: systems.ReachesServers, Suspended: systems.TouchesServers},
			{Property: "elects", While: systems.ReachesServers, Suspended: systems.TouchesServers},
		}),
		Unpromised: func(o targets.Options) []string {
			if o.Value("persistence") == "none" {
				return []string{"exclusive-leadership"}
			}
			return nil
		},
		Bounds: func(o targets.Options) history.Bounds {
			expiry := o.Duration("expiry")
			return history.Bounds{Silence: expiry + time.Second, Elect: 3*expiry + 20*time.Second, Poll: 50 * time.Millisecond}
		},
		Servers: systems.CountServers,
		System:  newSystem,
	})
}

func newSystem(o targets.Options) (election.System, error) {
	if e := o.Duration("expiry"); e < time.Second {
		return nil, fmt.Errorf("redlock: %w", hint.Add(fmt.Errorf("option expiry: %v is too short", e), "take 1s or more"))
	}
	candidate := election.Image{Recipe: "redlock-candidate", Version: o.Value("client")}
	if err := systems.CheckVersion("client", candidate); err != nil {
		return nil, fmt.Errorf("redlock: %w", err)
	}
	return &systems.Service{
		Candidate: candidate,
		Servers:   &redis.Servers{Version: o.Value("version"), Persistent: o.Value("persistence") == "always"},
		Flags: func(_ election.Member, _, servers []election.Member) []string {
			return []string{"-servers=" + systems.Addresses(servers, "%s", redis.Port), "-expiry=" + o.Value("expiry")}
		},
	}, nil
}
