package targets

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
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
	Register(&Target{
		Name:   "nats",
		About:  "the leader of NATS JetStream's meta group: raft, without pre-vote",
		Source: "https://docs.nats.io/running-a-nats-service/configuration/clustering/jetstream_clustering",
		Options: []Option{
			{Name: "version", Kind: Text, Default: "2.12.15", About: "of the server: any from 2.9.0 on; 2.9 tells no terms"},
		},
		Promises: onDisk([]Promise{
			{Property: "single-leader-per-term"},
			{Property: "monotonic-term", While: "no kill falls between a server's raising its term and storing it"},
			{Property: "elects", While: "no disk refuses a write: a server that cannot store its term leaves its group until it is started again",
				Unless: refuses},
		}...),
		Unpromised: func(o Options) []string {
			if natsSettled(o.Value("version")) {
				return nil
			}
			return []string{"single-leader-per-term", "monotonic-term", "elects"}
		},
		Untold: func(o Options) bool { return strings.HasPrefix(o.Value("version"), "2.9.") },
		Bounds: func(Options) history.Bounds {
			return history.Bounds{
				Silence: natsSilence,
				// Five rounds at their longest, and the time in which the routes that a cut broke are made anew.
				Elect: 5*natsSilence + 15*time.Second,
				Poll:  50 * time.Millisecond,
			}
		},
		System: newNats,
	})
}

// natsSilence is maxElectionTimeout: a server draws its own between 4 and 9 s.
const natsSilence = 9 * time.Second

var natsVersion = regexp.MustCompile(`^2\.(9|[1-9][0-9])\.(0|[1-9][0-9]*)$`)

// natsSettled tells whether a server steps down in the same step in which it learns of a higher term: 2.10.27 does, 2.10.20
// does not.
func natsSettled(version string) bool {
	var minor, patch int
	if _, err := fmt.Sscanf(version, "2.%d.%d", &minor, &patch); err != nil {
		return false
	}
	return minor > 10 || minor == 10 && patch >= 27
}

const (
	natsClientPort  = 4222
	natsRoutePort   = 6222
	natsMonitorPort = 8222
)

// natsSystem runs NATS. In raft, servers go by a hash of their names.
type natsSystem struct {
	version string

	mu  sync.Mutex
	ids map[string]election.ID
}

func newNats(o Options) (election.System, error) {
	version := o.Value("version")
	if !natsVersion.MatchString(version) {
		return nil, fmt.Errorf("targets: nats: %w", hint.Add(
			fmt.Errorf("option version: %q is no version of NATS that Recount runs", version), "known: all from 2.9.0 on"))
	}
	return &natsSystem{version: version, ids: map[string]election.ID{}}, nil
}

// Image names the recipe.
func (s *natsSystem) Image() election.Image {
	return election.Image{Recipe: "nats", Version: s.version}
}

// Container starts a server with routes to all others.
func (s *natsSystem) Container(self election.Member, all []election.Member) election.Container {
	s.meet(all)
	var routes []string
	for _, m := range all {
		if m.ID != self.ID {
			routes = append(routes, natsURL(m.Addr, natsRoutePort))
		}
	}
	every := everyAddr(self.Addr)
	return election.Container{
		Data: "/data",
		Command: []string{
			"/usr/bin/nats-server",
			"--name=" + self.ID.String(),
			"--addr=" + every.String(),
			fmt.Sprintf("--port=%d", natsClientPort),
			fmt.Sprintf("--http_port=%d", natsMonitorPort),
			"--cluster_name=recount",
			"--cluster=" + natsURL(every, natsRoutePort),
			"--routes=" + strings.Join(routes, ","),
			"--jetstream",
			"--store_dir=/data",
			"--debug", // raft tells what it does
		},
	}
}

func natsURL(addr netip.Addr, port uint16) string {
	return "nats://" + netip.AddrPortFrom(addr, port).String()
}
