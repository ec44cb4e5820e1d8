// Package dragonboat is the raft library of that name.
package dragonboat

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
	"recount/targets/systems"
)

// dragonboat is a multi-group raft library, in a server that has one group and keeps one number by it; the recipe holds
// its main package. What its makers promise, and what PreVote, CheckQuorum and ElectionRTT mean:
// https://pkg.go.dev/github.com/lni/dragonboat/v4/config#Config
func init() {
	targets.Register(&targets.Target{
		Name:   "dragonboat",
		About:  "the raft library dragonboat, with pre-vote and check-quorum as options",
		Source: "https://pkg.go.dev/github.com/lni/dragonboat/v4/config#Config",
		Options: []targets.Option{
			{Name: "version", Kind: targets.Text, Default: "4.0.0-20240618143154-6a1623140f27", About: "a commit of the library, as a pseudo-version"},
			{Name: "rtt", Kind: targets.Duration, Default: "100ms", About: "the library's unit of time, and a leader's heartbeat interval"},
			{Name: "election-rtt", Kind: targets.Number, Default: "10", About: "a follower campaigns after one to two times so many units without a heartbeat"},
			{Name: "pre-vote", Kind: targets.Bool, Default: "true", About: "ask before campaigning"},
			{Name: "check-quorum", Kind: targets.Bool, Default: "true", About: "a leader without a majority steps down"},
		},
		Promises: targets.OnDisk([]targets.Promise{
			{Property: "single-leader-per-term"},
			{Property: "linearizable"},
			targets.StoresTerm,
			// Not sticky-leader, pre-vote or not: who wins its pre-vote while another is being elected goes on in the higher term,
			// is refused by all because they hear a leader, and deposes it in the end (after 10 s, where it was seen).
			{Property: "no-ping-pong"},
			{Property: "bounded-terms"},
			{Property: "elects"},
		}...),
		Unpromised: func(o targets.Options) []string {
			var broken []string
			if !o.Bool("pre-vote") {
				broken = append(broken, "bounded-terms")
			}
			if !o.Bool("check-quorum") {
				broken = append(broken, "elects")
			}
			if broken != nil {
				broken = append(broken, "no-ping-pong")
			}
			return broken
		},
		Bounds: func(o targets.Options) history.Bounds {
			timeout := time.Duration(o.Number("election-rtt")) * o.Duration("rtt")
			return history.Bounds{
				Silence: 2 * timeout,
				// Ten rounds at their longest, and the time in which the connections that a cut broke are made anew.
				Elect: 10*2*timeout + 10*time.Second,
				Poll:  50 * time.Millisecond,
			}
		},
		System: newSystem,
	})
}

// system runs members whose replica ids are their numbers here.
type system struct {
	systems.Library[view]
	systems.Members
	systems.Register
	options targets.Options
}

func newSystem(o targets.Options) (election.System, error) {
	library, err := systems.NewLibrary[view]("dragonboat", o)
	if err == nil && (o.Duration("rtt") < time.Millisecond || o.Number("election-rtt") < 3 || o.Number("election-rtt") > 1000) {
		err = hint.Add(fmt.Errorf("options rtt and election-rtt: %v and %v", o.Value("rtt"), o.Value("election-rtt")),
			"at least 1ms, and from 3 to 1000 of them")
	}
	if err != nil {
		return nil, fmt.Errorf("dragonboat: %w", err)
	}
	return &system{Library: library, options: o}, nil
}

// Container starts a member.
func (s *system) Container(self election.Member, all []election.Member) election.Container {
	c := s.Start(self, systems.ByNumber(self), systems.Addresses(all, "%s", systems.RaftPort),
		"--rtt="+strconv.FormatInt(s.options.Duration("rtt").Milliseconds(), 10),
		"--election-rtt="+strconv.Itoa(int(s.options.Number("election-rtt"))),
		"--pre-vote="+strconv.FormatBool(s.options.Bool("pre-vote")),
		"--check-quorum="+strconv.FormatBool(s.options.Bool("check-quorum")))
	c.Command = append(c.Command, s.Joining(self.ID)...)
	return c
}

// view is the leader and its term as the library keeps them, in one value. A member that names itself leads;
// who campaigns is not told.
type view struct {
	ID     election.ID `json:"id"`
	Term   uint64      `json:"term"`
	Leader election.ID `json:"leader"`
}

func (v view) Status(self election.ID) (s election.Status, torn bool, err error) {
	s = election.Status{Term: v.Term, Leader: v.Leader}
	switch {
	case v.ID != self:
		return election.Status{}, false, fmt.Errorf("the answer is that of %v", v.ID)
	case v.Term == 0: // nothing was heard since the start, though a term may be on disk
		return election.Status{}, false, errors.New("raft has not started")
	case v.Leader == self:
		s.Role = election.Leader
	}
	return s, false, nil
}

// HandOver implements election.Abdicator.
func (s *system) HandOver() election.HandOver {
	return systems.HandOver(systems.StatusPort, systems.ByNumber)
}

// ReadLog reads what the member prints when the library tells its listener of a change.
func (s *system) ReadLog(self election.ID, line string) (election.Status, bool) {
	return systems.ReadView[view](self, line)
}
