package report

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
)

// Histories for these tests are made by a script that polls and announces as a run does; nothing in them was measured.

const msec = time.Millisecond

// script makes a history: what happens is told in order of time, and observations are filled in between.
type script struct {
	ops    []history.Op
	nodes  []string
	views  map[string]history.View
	procs  map[string]history.ProcState
	now    time.Duration
	polled time.Duration
	poll   time.Duration
	noPoll map[string]bool // nodes whose answers are lost
	faults int
	value  int64
}

func newScript(seed uint64, poll time.Duration, nodes ...string) *script {
	s := &script{
		nodes: nodes, poll: poll, views: map[string]history.View{}, procs: map[string]history.ProcState{},
		noPoll: map[string]bool{},
	}
	setup := &history.Setup{Version: "test", Target: "sample", Cluster: "sim", Seed: seed, Nodes: nodes}
	setup.Bounds = history.Bounds{Silence: time.Second, Elect: 2 * time.Second, Poll: poll}
	s.add(history.Op{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: setup})
	for _, n := range nodes {
		s.views[n] = history.View{Role: history.Follower}
		s.procs[n] = history.Up
	}
	return s
}

func (s *script) add(op history.Op) int {
	op.Index, op.Time = len(s.ops), s.now
	s.ops = append(s.ops, op)
	return op.Index
}

// at lets time go on until t, polling all that can answer.
func (s *script) at(t time.Duration) *script {
	for s.polled+s.poll <= t {
		s.polled += s.poll
		for i, n := range s.nodes {
			s.now = max(s.now, s.polled)
			if s.procs[n] == history.Up && !s.noPoll[n] {
				op := history.Op{Process: history.Process(i), F: history.Observe, Node: n, Type: history.Invoke}
				s.add(op)
				op.Type, op.View = history.OK, s.views[n]
				s.add(op)
			}
		}
	}
	s.now = t
	return s
}

// becomes lets a node announce its new view.
func (s *script) becomes(node string, role history.Role, term uint64, leader string) int {
	s.views[node] = history.View{Role: role, Term: term, Leader: leader}
	return s.add(history.Op{Process: 900, Type: history.OK, F: history.Announce, Node: node, View: s.views[node]})
}

// elect lets a node win a term; the others follow a little later.
func (s *script) elect(leader string, term uint64, others ...string) int {
	s.becomes(leader, history.Candidate, term, "")
	s.at(s.now + 60*msec)
	op := s.becomes(leader, history.Leader, term, leader)
	s.at(s.now + 15*msec)
	for _, n := range others {
		s.becomes(n, history.Follower, term, leader)
	}
	return op
}

func (s *script) write(node string, token uint64, outcome history.Type) int {
	s.value++
	op := history.Op{
		Process: history.Process(100 + s.value), Type: history.Invoke, F: history.Write, Node: node,
		Access: history.Access{Token: token, Value: s.value},
	}
	s.add(op)
	s.at(s.now + 2*msec)
	if op.Type = outcome; outcome == history.Fail {
		op.Error = "stale token"
	}
	return s.add(op)
}

// inject begins a fault and returns what heals it.
func (s *script) inject(name string, took history.Type, c history.Changes, nodes ...string) (heal func()) {
	s.faults++
	f := history.Fault{ID: s.faults, Name: name, Nodes: nodes, Asked: []string{"one"}, Changes: c}
	s.impose(history.Inject, took, f)
	return func() {
		healed := history.Changes{}
		for _, l := range c.Links {
			healed.Links = append(healed.Links, history.Link{From: l.From, To: l.To})
		}
		for _, p := range c.Procs {
			healed.Procs = append(healed.Procs, history.Proc{Node: p.Node, State: history.Up})
		}
		f.Changes = healed
		s.impose(history.Heal, history.OK, f)
	}
}

func (s *script) impose(what history.F, took history.Type, f history.Fault) {
	op := history.Op{Process: history.Nemesis, Type: history.Invoke, F: what, Fault: &f}
	s.add(op)
	s.at(s.now + 4*msec)
	if op.Type = took; took == history.Fail {
		op.Error = "the probe still got through"
	}
	s.add(op)
	if took == history.OK {
		for _, p := range f.Procs {
			s.procs[p.Node] = p.State
		}
	}
}

func (s *script) end(t testing.TB) *history.History {
	s.add(history.Op{Process: history.Harness, Type: history.OK, F: history.End})
	h, err := history.New(s.ops)
	require.NoError(t, err)
	return h
}

func cutBetween(a, b []string) (c history.Changes) {
	down := history.LinkState{Cut: true}
	for _, x := range a {
		for _, y := range b {
			c.Links = append(c.Links, history.Link{From: x, To: y, LinkState: down}, history.Link{From: y, To: x, LinkState: down})
		}
	}
	return c
}

// pingPong is four nodes of which n1 and n3 lose their link and take the leadership from each other ever after.
func pingPong(t testing.TB) *record.Run {
	s := newScript(7, 50*msec, "n1", "n2", "n3", "n4")
	s.at(700*msec).elect("n1", 10, "n2", "n3", "n4")
	s.at(4 * time.Second)
	heal := s.inject("cut-link", history.OK, cutBetween([]string{"n1"}, []string{"n3"}), "n1", "n3")
	var evidence []int
	from := s.now
	for i := range 15 {
		s.at(s.now + 850*msec + time.Duration(i*37%200)*msec)
		leader, loser := "n3", "n1"
		if i%2 == 1 {
			leader, loser = loser, leader
		}
		evidence = append(evidence, s.elect(leader, uint64(11+i), "n2", "n4"))
		s.at(s.now + 120*msec)
		s.becomes(loser, history.Follower, uint64(11+i), "")
	}
	to := s.now
	s.at(21 * time.Second)
	heal()
	s.at(21200 * msec)
	s.becomes("n1", history.Follower, 25, "n3")
	s.at(24 * time.Second)
	r := &record.Run{
		Dir: "results/blazingmq-term/20260102-030405.000", Title: "ping-pong", Target: "blazingmq-term", Cluster: "sim",
		Options: map[string]string{"scale": "0.2", "random-wait": "3s"}, Seed: 7, Nodes: s.nodes,
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Took: 310 * msec, Repeat: "recount run ping-pong --seed 7",
		Version: "0.1.0", History: s.end(t),
	}
	result := func(property string, v checkers.Verdict, why string, figures ...string) checkers.Result {
		res := checkers.Result{Property: property, Verdict: v, Why: why}
		for i := 0; i+1 < len(figures); i += 2 {
			res.Figures = append(res.Figures, checkers.Figure{Name: figures[i], Value: figures[i+1]})
		}
		return res
	}
	bounce := result("no-ping-pong", checkers.Invalid,
		"the leadership bounced 15 times between n1 and n3 while the same link stayed down and both kept a majority",
		"changes of leader", "15", "longest leadership", "1.2 s", "bouncing for", "15.4 s")
	bounce.Ops, bounce.From, bounce.To = evidence, from, to
	sticky := result("sticky-leader", checkers.Invalid,
		"n1 was deposed in term 10 though it was alive and reached n2 and n4 all the time", "unjustified changes", "1")
	sticky.Ops, sticky.From, sticky.To = evidence[:1], from, evidence2time(s, evidence[0])
	untested := result("fencing", checkers.Unknown, "nobody wrote")
	untested.Untested = true
	r.Verdicts = []record.Verdict{
		{Result: result("single-leader-per-term", checkers.Valid, "16 claims in 16 terms, none of them shared", "claims", "16"), Promised: true},
		{Result: untested, Promised: true},
		{Result: result("monotonic-term", checkers.Valid, "no term went down in 1,932 answers of 4 nodes"), Promised: true},
		{Result: sticky},
		{Result: bounce, Expect: checkers.Invalid},
		{Result: result("bounded-terms", checkers.Unknown, "terms rose by 15 in 24 s, and no node was ever cut off from a majority: let one be cut off to know")},
		{Result: result("elects", checkers.Valid, "a leader was known to a majority within 1.1 s whenever one was due",
			"longest without a leader", "1.06 s"), Promised: true, While: "a majority is connected"},
	}
	return r
}

func evidence2time(s *script, index int) time.Duration { return s.ops[index].Time }

// storm is nine nodes (or so many) under partitions, kills and pauses, with writers, a stall, a fault that failed and a
// promise that broke.
func storm(t testing.TB, size int, length time.Duration) *record.Run {
	rnd := rand.New(rand.NewPCG(9, 9))
	var nodes []string
	for i := range size {
		nodes = append(nodes, fmt.Sprintf("n%d", i+1))
	}
	s := newScript(8125, 100*msec, nodes...)
	but := func(out ...string) (rest []string) {
		for _, n := range nodes {
			keep := s.procs[n] == history.Up
			for _, o := range out {
				keep = keep && n != o
			}
			if keep {
				rest = append(rest, n)
			}
		}
		return rest
	}
	leader, term := "n1", uint64(1)
	s.at(500*msec).elect(leader, term, but(leader)...)
	var stale, double []int
	var from, to time.Duration
	writes := func(until time.Duration) {
		for s.now+150*msec < until {
			s.at(s.now + time.Duration(80+rnd.IntN(60))*msec)
			s.write(leader, term, history.OK)
		}
		s.at(until)
	}
	next := func(among []string) {
		old := leader
		for leader == old {
			leader = among[rnd.IntN(len(among))]
		}
		term++
	}
	for round := 0; s.now < length-6*time.Second; round++ {
		writes(s.now + time.Second + time.Duration(rnd.IntN(1500))*msec)
		old, oldTerm := leader, term
		switch round % 6 {
		case 0: // the leader is with the minority
			small := append([]string{old}, but(old)[:size/2-1]...)
			large := but(small...)
			heal := s.inject("halves", history.OK, cutBetween(small, large), old)
			s.at(s.now + 900*msec)
			next(large)
			first := s.elect(leader, term, but(append(small, leader)...)...)
			s.at(s.now + 150*msec)
			s.write(old, oldTerm, history.Fail)
			s.write(leader, term, history.OK)
			writes(s.now + 1200*msec)
			heal()
			s.at(s.now + 100*msec)
			for _, n := range small {
				s.becomes(n, history.Follower, term, leader)
			}
			_ = first
		case 1: // the leader dies and comes back
			heal := s.inject("kill", history.OK, history.Changes{Procs: []history.Proc{{Node: old, State: history.Down}}}, old)
			s.at(s.now + 1100*msec)
			next(but())
			s.elect(leader, term, but(leader)...)
			writes(s.now + 1500*msec)
			heal()
			s.at(s.now + 300*msec)
			s.becomes(old, history.Follower, term, leader)
		case 2: // the leader is paused and writes when it wakes
			heal := s.inject("pause", history.OK, history.Changes{Procs: []history.Proc{{Node: old, State: history.Paused}}}, old)
			s.at(s.now + time.Second)
			next(but())
			s.elect(leader, term, but(leader)...)
			writes(s.now + 1300*msec)
			heal()
			outcome := history.Fail
			if round == 8 {
				outcome = history.OK
			}
			if w := s.write(old, oldTerm, outcome); outcome == history.OK {
				stale = append(stale, w)
			}
			s.at(s.now + 80*msec)
			s.becomes(old, history.Follower, term, leader)
		case 3: // a fault that does not take
			s.inject("isolate", history.Fail, history.Changes{}, "n2")
			s.noPoll["n3"] = true
			writes(s.now + 1200*msec)
			s.noPoll["n3"] = false
		case 4: // one way
			var c history.Changes
			for _, n := range but(old) {
				c.Links = append(c.Links, history.Link{From: n, To: old, LinkState: history.LinkState{Cut: true}})
			}
			heal := s.inject("cut-one-way", history.OK, c, old)
			s.at(s.now + 700*msec)
			s.becomes(old, history.Candidate, oldTerm, "")
			next(but())
			s.elect(leader, term, but(leader, old)...)
			writes(s.now + 900*msec)
			heal()
			s.becomes(old, history.Follower, term, leader)
		case 5: // two leaders in one term
			s.now += 400 * msec
			s.add(history.Op{Process: history.Harness, Type: history.Info, F: history.Stall, Access: history.Access{Value: int64(380 * msec)}})
			if double != nil {
				continue
			}
			from = s.now
			next(but())
			a := s.elect(leader, term, but(leader)[:size/2]...)
			rogue := but(leader)[size-2]
			b := s.elect(rogue, term)
			double = []int{a, b}
			writes(s.now + 800*msec)
			s.becomes(rogue, history.Follower, term, leader)
			to = s.now
		}
	}
	writes(s.now + 2*time.Second)
	r := &record.Run{
		Dir: "results/raft/20260102-030405.000", Title: "storm", Target: "raft", Cluster: "docker",
		Options: map[string]string{"forget-vote": "true", "election-timeout": "150ms", "heartbeat": "50ms", "scale": "1"},
		Seed:    8125, Nodes: nodes, Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Took: length + 4*time.Second,
		Version: "0.1.0", History: s.end(t),
		Repeat: "recount run storm --target raft --opt forget-vote=true --on docker --nodes 9 --seed 8125",
		Notes:  []string{"isolate n2 did not take effect: the probe still got through"},
	}
	r.Verdicts = []record.Verdict{
		{Result: checkers.Result{
			Property: "single-leader-per-term", Verdict: checkers.Invalid, Ops: double, From: from, To: to,
			Why:     fmt.Sprintf("term %d was won by two nodes: %s and %s", s.ops[double[0]].View.Term, s.ops[double[0]].Node, s.ops[double[1]].Node),
			Figures: []checkers.Figure{{Name: "claims", Value: "38"}, {Name: "terms", Value: "37"}, {Name: "decided by porcupine in", Value: "3.1 ms"}},
			Drawing: []byte("<html>"),
		}, Promised: true, While: "no vote is lost by the disk"},
		{Result: checkers.Result{Property: "monotonic-term", Verdict: checkers.Valid, Why: "no term went down in 3,204 answers"}, Promised: true},
		{Result: checkers.Result{Property: "vote-once", Verdict: checkers.Unknown, Why: "no node reported its votes", Untested: true}, Promised: true},
		{Result: checkers.Result{Property: "elects", Verdict: checkers.Unknown,
			Why: "for 1.2 s nobody answered and the machine stood still for 0.38 s of it: run it again on a quieter machine"}, Promised: true},
		{Result: checkers.Result{Property: "sticky-leader", Verdict: checkers.Valid, Why: "7 changes of leader, all after the old one had lost its majority"}},
	}
	if len(stale) > 0 {
		at := s.ops[stale[0]].Time
		r.Verdicts = append(r.Verdicts, record.Verdict{Result: checkers.Result{
			Property: "fencing", Verdict: checkers.Invalid, Ops: stale, From: at - time.Second, To: at,
			Why: "a write with a stale token was accepted after a higher one",
		}})
	}
	r.Stand()
	return r
}
