package targets

import (
	"fmt"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
)

// redlock is a lock on a majority of Redis servers that know nothing of each other. What is said of it:
//
//   - its author, with what a restart without persistence does to it:
//     https://redis.io/docs/latest/develop/use/patterns/distributed-locks/#performance-crash-recovery-and-fsync
//   - what it lacks: https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html
//   - the client: https://pkg.go.dev/github.com/go-redsync/redsync/v4
func init() {
	Register(&Target{
		Name:    "redlock",
		About:   "candidates that take a lock on a majority of independent Redis servers, with go-redsync; it numbers no leaderships",
		Source:  "https://redis.io/docs/latest/develop/use/patterns/distributed-locks/",
		NoTerms: true,
		Options: []Option{
			{Name: "version", Kind: Choice, Default: "7.0.15", Choices: []string{"7.0.15"}, About: "of the servers"},
			{Name: "client", Kind: Text, Default: "4.13.0", About: "version of go-redsync/redsync: 4.10 to 4.19"},
			serversOption("3"),
			{Name: "expiry", Kind: Duration, Default: "8s", About: "how long a lock lasts that is not extended; it is each third of that"},
			{
				Name: "persistence", Kind: Choice, Default: "always", Choices: []string{"always", "none"},
				About: "always: servers write each lock to disk before they answer; none: they forget it in a restart",
			},
		},
		Promises: []Promise{
			{
				Property: "exclusive-leadership",
				While:    "no clock is wrong, and no answer slow or a candidate paused",
				Unless:   func(did history.Changes) bool { return len(did.Clocks) > 0 || slowsAnswers(did) },
			},
			{Property: "sticky-leader", While: reachesServers, Unless: touchesServers},
			{Property: "no-ping-pong", While: reachesServers, Unless: touchesServers},
			{Property: "elects", While: reachesServers, Unless: touchesServers},
		},
		Unpromised: func(o Options) []string {
			if o.Value("persistence") == "none" {
				return []string{"exclusive-leadership"}
			}
			return nil
		},
		Bounds: func(o Options) history.Bounds {
			expiry := o.Duration("expiry")
			return history.Bounds{Silence: expiry + time.Second, Elect: 3*expiry + 20*time.Second, Poll: 50 * time.Millisecond}
		},
		Servers: countServers,
		System:  newRedlock,
	})
}

func newRedlock(o Options) (election.System, error) {
	if e := o.Duration("expiry"); e < time.Second {
		return nil, fmt.Errorf("targets: redlock: %w", hint.Add(fmt.Errorf("option expiry: %v is too short", e), "take 1s or more"))
	}
	return &service{
		image:   election.Image{Recipe: "redlock-candidate", Version: o.Value("client")},
		servers: &redisServers{version: o.Value("version"), persistent: o.Value("persistence") == "always"},
		flags: func(_ election.Member, _, servers []election.Member) []string {
			return []string{"-servers=" + addresses(servers, "%s", redisPort), "-expiry=" + o.Value("expiry")}
		},
	}, nil
}

// redisServers is Redis servers that know nothing of each other.
type redisServers struct {
	version    string
	persistent bool // each write is on disk before it is answered
}

func (s *redisServers) Image() election.Image {
	return election.Image{Recipe: "redis", Version: s.version}
}

func (s *redisServers) Container(election.Member, []election.Member) election.Container {
	appends := "no"
	if s.persistent {
		appends = "yes"
	}
	return election.Container{Data: "/data", Command: []string{
		"/usr/bin/redis-server", "--bind", "0.0.0.0", "--protected-mode", "no", "--dir", "/data",
		"--save", "", "--appendonly", appends, "--appendfsync", "always",
	}}
}

func (s *redisServers) Observer(_ election.Member, _ []election.Member, dial election.Dial) election.Observer {
	return &redisServer{redisClient{dial: dial}}
}
