// Package etcdraftserver is etcd's raft library, of many versions, in a server.
package etcdraftserver

import (
	"fmt"
	"strconv"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
	"recount/targets/systems"
)

// etcd-raft-server is the raft library of etcd, CockroachDB and TiKV in a server that does nothing but elect by it; the recipe holds its
// main package. The target etcd-raft is the latest version alone, as a state machine without randomness of its own; here are the
// versions since 3.1, timeouts and all, each as a process. What its makers promise:
//
//   - what is stored before what is sent: https://pkg.go.dev/go.etcd.io/raft/v3#hdr-Usage
//   - CheckQuorum, PreVote, ElectionTick: https://pkg.go.dev/go.etcd.io/raft/v3#Config
//   - learners and their promotion: https://etcd.io/docs/v3.6/learning/design-learner/
func init() {
	targets.Register(&targets.Target{
		Name:   "etcd-raft-server",
		About:  "etcd's raft library, any version since 3.1, in a server that only elects",
		Source: "https://pkg.go.dev/go.etcd.io/raft/v3#Config",
		Options: []targets.Option{
			{Name: "version", Kind: targets.Text, Default: "3.6.0", About: "of the library: any 3.1, 3.2, 3.3, or from 3.5 to 3.7"},
			{Name: "tick", Kind: targets.Duration, Default: "100ms", About: "the library's unit of time, and a leader's heartbeat interval"},
			{Name: "election-ticks", Kind: targets.Number, Default: "10", About: "a follower campaigns after one to two times so many ticks without a heartbeat"},
			{Name: "pre-vote", Kind: targets.Bool, Default: "true", About: "ask before campaigning"},
			{Name: "introduce-pre-vote", Kind: targets.Bool, Default: "false", About: "members ask from their second start on, as where pre-vote is new"},
			{Name: "check-quorum", Kind: targets.Bool, Default: "true", About: "a leader without a majority steps down; who hears one votes for nobody"},
		},
		Promises: targets.OnDisk([]targets.Promise{
			{Property: "single-leader-per-term"},
			// A member tells the term in memory, which is stored before anything is sent in it, not before it can be asked for.
			targets.StoresTerm,
			{Property: "sticky-leader", While: targets.VotesAtOnce, Suspended: targets.Delays},
			{Property: "no-ping-pong"},
			{Property: "bounded-terms"},
			{Property: "elects"},
		}...),
		Unpromised: func(o targets.Options) []string {
			var broken []string
			asks := o.Bool("pre-vote") && !o.Bool("introduce-pre-vote")
			if !asks {
				broken = append(broken, "bounded-terms")
			}
			if minor, _ := systems.Release(o.Value("version")); !o.Bool("check-quorum") || minor < 6 { // what the versions before lack: docs/track-record.md
				broken = append(broken, "elects")
			}
			if !asks || !o.Bool("check-quorum") {
				broken = append(broken, "sticky-leader", "no-ping-pong")
			}
			return broken
		},
		Bounds: func(o targets.Options) history.Bounds {
			timeout := time.Duration(o.Number("election-ticks")) * o.Duration("tick")
			return history.Bounds{
				Silence: 2 * timeout,
				// Ten rounds at their longest, and the time in which the connections that a cut broke are made anew.
				Elect: 10*2*timeout + 5*time.Second,
				Poll:  50 * time.Millisecond,
			}
		},
		System: newSystem,
	})
}

// system runs members whose raft ids are their numbers here.
type system struct {
	systems.Library[view]
	systems.Members
	options targets.Options
}

func newSystem(o targets.Options) (election.System, error) {
	library, err := systems.NewLibrary[view]("etcd-raft-server", o)
	switch {
	case err != nil:
	case o.Duration("tick") < time.Millisecond || o.Number("election-ticks") < 2 || o.Number("election-ticks") > 1000:
		err = hint.Add(fmt.Errorf("options tick and election-ticks: %v and %v", o.Value("tick"), o.Value("election-ticks")),
			"at least 1ms, and from 2 to 1000 of them")
	}
	if err != nil {
		return nil, fmt.Errorf("etcd-raft-server: %w", err)
	}
	return &system{Library: library, options: o}, nil
}

// hasLearners tells whether the version has any.
func hasLearners(o targets.Options) bool {
	minor, _ := systems.Release(o.Value("version"))
	return minor >= 3
}

// Learnerless implements election.Learnerless.
func (s *system) Learnerless() bool { return !hasLearners(s.options) }

// Container starts a member.
func (s *system) Container(self election.Member, all []election.Member) election.Container {
	c := s.Start(self, systems.ByNumber(self), systems.Addresses(all, "%s", systems.RaftPort),
		"--tick="+s.options.Duration("tick").String(),
		"--election-ticks="+strconv.Itoa(int(s.options.Number("election-ticks"))),
		"--pre-vote="+strconv.FormatBool(s.options.Bool("pre-vote")),
		"--introduce-pre-vote="+strconv.FormatBool(s.options.Bool("introduce-pre-vote")),
		"--check-quorum="+strconv.FormatBool(s.options.Bool("check-quorum")))
	c.Command = append(c.Command, s.Joining(self.ID)...)
	return c
}

// view is what a member says, asked or by itself.
type view struct{ systems.RoleView }

var roles = map[string]election.Role{
	"StateFollower": election.Follower, "StatePreCandidate": election.Candidate, "StateCandidate": election.Candidate, "StateLeader": election.Leader,
}

func (v view) Status(self election.ID) (s election.Status, torn bool, err error) {
	return v.StatusBy(roles, self)
}

// HandOver implements election.Abdicator.
func (s *system) HandOver() election.HandOver {
	return systems.HandOver(systems.StatusPort, systems.ByNumber)
}

// ReadLog reads the views that the member prints when the library tells of a change.
func (s *system) ReadLog(self election.ID, line string) (election.Status, bool) {
	return systems.ReadView[view](self, line)
}
