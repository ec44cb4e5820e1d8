// Package seaweedfsraft is the raft library of SeaweedFS' masters, which goes back to the first one in Go.
package seaweedfsraft

import (
	"fmt"
	"strings"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
	"recount/targets/systems"
)

// seaweedfs-raft is the library by which SeaweedFS' masters elect when not told otherwise, in a server that does nothing but elect by
// it; the recipe holds its main package. What its makers promise: https://github.com/seaweedfs/raft#readme
func init() {
	targets.Register(&targets.Target{
		Name:   "seaweedfs-raft",
		About:  "the raft library of SeaweedFS' masters, a descendant of goraft, without pre-vote",
		Source: "https://github.com/seaweedfs/raft#readme",
		Options: []targets.Option{
			{Name: "version", Kind: targets.Text, Default: "1.2.0", About: "of the library: 1.1.3 or any of 1.2"},
			{Name: "heartbeat", Kind: targets.Duration, Default: "400ms", About: "a leader's heartbeat interval"},
			{Name: "election-timeout", Kind: targets.Duration, Default: "2s", About: "a follower campaigns after one to two of these without a heartbeat"},
		},
		Promises: targets.OnDisk([]targets.Promise{
			{Property: "single-leader-per-term"},
			{Property: "monotonic-term"},
			{Property: "elects"},
		}...),
		Unpromised: func(o targets.Options) []string {
			if strings.HasPrefix(o.Value("version"), "1.1.") {
				return []string{"single-leader-per-term", "monotonic-term"} // neither term nor vote is on its disk
			}
			return nil
		},
		Bounds: func(o targets.Options) history.Bounds {
			timeout := o.Duration("election-timeout")
			return history.Bounds{
				Silence: 2 * timeout,
				// Ten rounds at their longest, and the transport's patience with a connection that a cut broke.
				Elect: 10*2*timeout + 20*time.Second,
				Poll:  50 * time.Millisecond,
			}
		},
		System: newSystem,
	})
}

// system runs members that are known in raft by the names they have here.
type system struct {
	systems.Library[view]
	options targets.Options
}

func newSystem(o targets.Options) (election.System, error) {
	library, err := systems.NewLibrary[view]("seaweedfs-raft", o)
	heartbeat, timeout := o.Duration("heartbeat"), o.Duration("election-timeout")
	if err == nil && (timeout < 2*time.Second || heartbeat < time.Millisecond || heartbeat > timeout/2) {
		err = hint.Add(fmt.Errorf("options heartbeat and election-timeout: %v and %v", heartbeat, timeout),
			"a leader counts in whole seconds who is there: the timeout has to be 2s at least, and two heartbeats")
	}
	if err != nil {
		return nil, fmt.Errorf("seaweedfs-raft: %w", err)
	}
	return &system{library, o}, nil
}

// Container starts a member.
func (s *system) Container(self election.Member, all []election.Member) election.Container {
	return s.Start(self, systems.ByName(self), systems.NamedAddrs(all, systems.RaftPort),
		"--heartbeat="+s.options.Duration("heartbeat").String(),
		"--election-timeout="+s.options.Duration("election-timeout").String())
}

// view is what a member says when it is asked.
type view struct{ systems.RoleView }

var roles = map[string]election.Role{
	"follower": election.Follower, "candidate": election.Candidate, "leader": election.Leader,
	"snapshotting": election.Follower, // it takes over what a leader sent
}

// Status counts terms from 1: the leader that begins a cluster leads in the library's term 0.
func (v view) Status(self election.ID) (s election.Status, torn bool, err error) {
	v.Term++
	return v.StatusBy(roles, self)
}
