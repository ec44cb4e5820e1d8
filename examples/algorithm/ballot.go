// Package algorithm is an election of one's own, written as a state machine in Go: the first of the three ways to Recount.
// Its test makes runs of it in simulation and on containers.
//
// A member that hears no leader for a while asks all others for their votes in the next term. Whoever gets the votes of
// a majority leads that term, and says so again and again.
package algorithm

import (
	"encoding/binary"
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
)

func init() {
	targets.Register(&targets.Target{
		Name:   "ballot",
		About:  "an example: one vote a term, and a majority of votes leads",
		Source: "examples/algorithm",
		Options: []targets.Option{
			{Name: "heartbeat", Kind: targets.Duration, Default: "50ms", About: "time between two heartbeats of a leader"},
			{Name: "remember", Kind: targets.Bool, Default: "true", About: "keep votes on disk, so that a restart forgets none",
				Breaks: []string{"single-leader-per-term", "monotonic-term"}},
		},
		Promises: []targets.Promise{
			{Property: "single-leader-per-term"},
			{Property: "monotonic-term"},
			{Property: "elects", While: "the nodes of a majority hear each other", Unless: loses},
		},
		Bounds: func(o targets.Options) history.Bounds {
			silence := 8 * o.Duration("heartbeat") // the longest that a member waits before it campaigns
			return history.Bounds{Silence: silence, Elect: 20*silence + time.Second, Poll: 50 * time.Millisecond}
		},
		Node: func(o targets.Options, env election.Env) election.Node {
			return &ballot{env: env, heartbeat: o.Duration("heartbeat"), remember: o.Bool("remember")}
		},
	})
}

// loses reports whether the nemesis did anything to links but cut them both ways: the promise to elect does not reach
// that far.
func loses(did history.Changes) bool {
	cut := map[[2]string]bool{}
	for _, l := range did.Links {
		if l.LinkState != (history.LinkState{}) && l.LinkState != (history.LinkState{Cut: true}) {
			return true
		}
		cut[[2]string{l.From, l.To}] = l.Cut
	}
	for pair, is := range cut {
		if cut[[2]string{pair[1], pair[0]}] != is {
			return true
		}
	}
	return false
}

const alarm election.Timer = 0 // a leader's next heartbeat; anybody else's patience

type ballot struct {
	env       election.Env
	heartbeat time.Duration
	remember  bool

	role   election.Role
	term   uint64
	vote   election.ID // given in this term
	leader election.ID
	yes    map[election.ID]bool
}

func (b *ballot) Start() {
	if kept := b.env.Load("ballot"); len(kept) == 9 {
		b.term, b.vote = binary.BigEndian.Uint64(kept), election.ID(kept[8])
		b.env.Sync() // the life before may have ended before it could
	}
	b.wait()
}

// wait gives a leader four to eight heartbeats to be heard.
func (b *ballot) wait() {
	b.env.SetTimer(alarm, 4*b.heartbeat+time.Duration(b.env.Rand().Int64N(int64(4*b.heartbeat))))
}

// enter goes to a term, giving the vote in it to somebody or nobody, and keeps that before anybody hears of it.
func (b *ballot) enter(term uint64, vote election.ID) {
	b.term, b.vote = term, vote
	if b.remember {
		b.env.Store("ballot", append(binary.BigEndian.AppendUint64(nil, term), byte(vote)))
		b.env.Sync()
	}
	if vote != election.None {
		b.env.Granted(term, vote)
	}
}

func (b *ballot) follow(term uint64, vote election.ID) {
	b.role, b.leader = election.Follower, election.None
	b.enter(term, vote)
	b.wait()
}

func (b *ballot) Receive(from election.ID, m election.Message) {
	if m.Term > b.term {
		b.follow(m.Term, election.None)
	}
	switch {
	case m.Term < b.term:
	case m.Kind == "Ask":
		if b.vote == election.None {
			b.follow(m.Term, from)
		}
		if b.vote == from {
			b.env.Send(from, election.Message{Kind: "Yes", Term: b.term})
		}
	case m.Kind == "Yes" && b.role == election.Candidate:
		if b.yes[from] = true; len(b.yes) > b.env.Size()/2 {
			b.role, b.leader = election.Leader, b.env.ID()
			b.Expire(alarm)
		}
	case m.Kind == "Heartbeat":
		b.role, b.leader = election.Follower, from
		b.wait()
	}
}

func (b *ballot) Expire(election.Timer) {
	if b.role == election.Leader {
		b.tell(election.Message{Kind: "Heartbeat", Term: b.term})
		b.env.SetTimer(alarm, b.heartbeat)
		return
	}
	b.enter(b.term+1, b.env.ID())
	b.role, b.leader, b.yes = election.Candidate, election.None, map[election.ID]bool{b.env.ID(): true}
	b.tell(election.Message{Kind: "Ask", Term: b.term})
	b.wait()
}

// tell sends to everybody else.
func (b *ballot) tell(m election.Message) {
	for id := election.ID(1); int(id) <= b.env.Size(); id++ {
		if id != b.env.ID() {
			b.env.Send(id, m)
		}
	}
}

func (b *ballot) Status() election.Status {
	return election.Status{Role: b.role, Term: b.term, Leader: b.leader}
}
