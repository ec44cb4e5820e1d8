// Package nats is NATS: the leader of JetStream's meta group.
package nats

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
	"recount/targets/systems"
)

// NATS servers with JetStream elect a leader of their meta group, by a raft of their own. What its makers say of it:
//
//   - the meta group, its leader, and that it takes a majority:
//     https://docs.nats.io/running-a-nats-service/configuration/clustering/jetstream_clustering
//   - there is no pre-vote, and votes are granted whether or not a leader is heard:
//     https://github.com/nats-io/nats-server/pull/5331
//   - what was repaired in terms and in stepping down until 2.10.27: https://github.com/nats-io/nats-server/releases/tag/v2.10.27
//   - the times, which cannot be set: minElectionTimeout, maxElectionTimeout and hbInterval in
//     https://github.com/nats-io/nats-server/blob/main/server/raft.go
func init() {
	targets.Register(&targets.Target{
		Name:   "nats",
		About:  "the leader of NATS JetStream's meta group: raft, without pre-vote",
		Source: "https://docs.nats.io/running-a-nats-service/configuration/clustering/jetstream_clustering",
		Options: []targets.Option{
			{Name: "version", Kind: targets.Text, Default: "2.12.15", About: "of the server: any from 2.9.0 on; 2.9 tells no terms"},
		},
		Promises: targets.OnDisk([]targets.Promise{
			{Property: "single-leader-per-term"},
			targets.StoresTerm,
			{Property: "elects", While: "no disk refuses a write: a server that cannot store its term leaves its group until it is started again",
				Unless: targets.RefusesWrites},
		}...),
		Unpromised: func(o targets.Options) []string {
			if settled(o.Value("version")) {
				return nil
			}
			return []string{"single-leader-per-term", "monotonic-term", "elects"}
		},
		NoTermsWith: func(o targets.Options) bool { return strings.HasPrefix(o.Value("version"), "2.9.") },
		Bounds: func(targets.Options) history.Bounds {
			return history.Bounds{
				Silence: silence,
				// Five rounds at their longest, and the time in which the routes that a cut broke are made anew.
				Elect: 5*silence + 15*time.Second,
				Poll:  50 * time.Millisecond,
			}
		},
		System: newSystem,
	})
}

// silence is maxElectionTimeout: a server draws its own between 4 and 9 s.
const silence = 9 * time.Second

// settled tells whether a server steps down in the same step in which it learns of a higher term: 2.10.27 does, 2.10.20
// does not.
func settled(version string) bool {
	var minor, patch int
	if _, err := fmt.Sscanf(version, "2.%d.%d", &minor, &patch); err != nil {
		return false
	}
	return minor > 10 || minor == 10 && patch >= 27
}

const (
	clientPort  = 4222
	routePort   = 6222
	monitorPort = 8222
)

// system runs NATS. In raft, servers go by a hash of their names.
type system struct {
	version string

	mu  sync.Mutex
	ids map[string]election.ID
}

func newSystem(o targets.Options) (election.System, error) {
	version := o.Value("version")
	if err := systems.CheckVersion("version", imageOf(version)); err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	return &system{version: version, ids: map[string]election.ID{}}, nil
}

// Image names the recipe.
func (s *system) Image() election.Image { return imageOf(s.version) }

func imageOf(version string) election.Image { return election.Image{Recipe: "nats", Version: version} }

// Container starts a server with routes to all others.
func (s *system) Container(self election.Member, all []election.Member) election.Container {
	s.meet(all)
	var routes []string
	for _, m := range all {
		if m.ID != self.ID {
			routes = append(routes, routeURL(m.Addr, routePort))
		}
	}
	every := systems.EveryAddr(self.Addr)
	return election.Container{
		Data: "/data",
		Command: []string{
			"/usr/bin/nats-server",
			"--name=" + self.ID.String(),
			"--addr=" + every.String(),
			fmt.Sprintf("--port=%d", clientPort),
			fmt.Sprintf("--http_port=%d", monitorPort),
			"--cluster_name=recount",
			"--cluster=" + routeURL(every, routePort),
			"--routes=" + strings.Join(routes, ","),
			"--jetstream",
			"--store_dir=/data",
			"--debug", // raft tells what it does
		},
	}
}

func routeURL(addr netip.Addr, port uint16) string {
	return "nats://" + netip.AddrPortFrom(addr, port).String()
}
