package targets

import (
	"fmt"
	"time"

	"recount/election"
	"recount/hint"
	"recount/history"
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

// redlock is Redis servers, and candidates.
type redlock struct {
	candidateLogs
	options Options
}

func newRedlock(o Options) (election.System, error) {
	if e := o.Duration("expiry"); e < time.Second {
		return nil, fmt.Errorf("targets: redlock: %w", hint.Add(fmt.Errorf("option expiry: %v is too short", e), "take 1s or more"))
	}
	return &redlock{options: o}, nil
}

func (s *redlock) Image() election.Image {
	return election.Image{Recipe: "redlock-candidate", Version: s.options.Value("client")}
}

func (s *redlock) ServerImage() election.Image {
	return election.Image{Recipe: "redis", Version: s.options.Value("version")}
}

func (s *redlock) Container(self election.Member, all []election.Member) election.Container {
	_, servers := split(all)
	if !self.Server {
		return election.Container{Command: []string{
			"/usr/bin/candidate", "-name=" + self.Name,
			"-servers=" + addresses(servers, "%s", redisPort),
			"-expiry=" + s.options.Value("expiry"),
		}}
	}
	appends := "no"
	if s.options.Value("persistence") == "always" {
		appends = "yes"
	}
	return election.Container{Data: "/data", Command: []string{
		"/usr/bin/redis-server", "--bind", "0.0.0.0", "--protected-mode", "no", "--dir", "/data",
		"--save", "", "--appendonly", appends, "--appendfsync", "always",
	}}
}

func (s *redlock) Observer(self election.Member, _ []election.Member, dial election.Dial) election.Observer {
	if self.Server {
		return &redisServer{redisClient{dial: dial}}
	}
	return observeCandidate(dial)
}
