package claims

import (
	"context"
	"fmt"
	"slices"
	"time"

	"recount/election"
	"recount/history"
	"recount/sim"
	"recount/targets"
)

// stand is a simulated cluster of one election while it is measured.
type stand struct {
	*sim.Cluster
	target *targets.Target
	bounds history.Bounds
	nodes  []election.Node // by place
	down   []bool
	views  []history.View // as they were announced
	led    []leadership   // as they were announced
	ran    []leadership   // likewise: candidacies

	sent     int           // messages of elections: all but those that go round anyway
	lastSent time.Duration // the latest of them
	beat     func()        // called at each heartbeat of a leader
}

// leadership is a node that took a post, or ran for it.
type leadership struct {
	node int // place
	term uint64
	at   time.Duration
}

// setup is what a stand is made of. The zero latency is the simulator's own, 1 to 5 ms.
type setup struct {
	target                 string
	options                map[string]string
	nodes                  int
	latencyMin, latencyMax time.Duration
}

func (s setup) open(seed uint64) (*stand, error) {
	t, err := targets.Find(s.target)
	if err != nil {
		return nil, err
	}
	o, err := t.Parse(s.options)
	if err != nil {
		return nil, err
	}
	st := &stand{
		target: t, bounds: t.Bounds(o), nodes: make([]election.Node, s.nodes), down: make([]bool, s.nodes),
		views: make([]history.View, s.nodes), beat: func() {},
	}
	st.Cluster, err = sim.New(sim.Config{
		Nodes: s.nodes, Seed: seed, LatencyMin: s.latencyMin, LatencyMax: s.latencyMax,
		New: func(env election.Env) election.Node {
			n := t.Node(o, counting{env, st})
			st.nodes[env.ID()-1] = n
			return n
		},
	})
	if err != nil {
		return nil, err
	}
	place := map[string]int{}
	for i, n := range st.Nodes() {
		place[n] = i
	}
	st.OnAnnounce(func(name string, v history.View) {
		i := place[name]
		l := leadership{i, v.Term, st.Now()}
		if v.Claims() && (!st.views[i].Claims() || st.views[i].Tenure != v.Tenure) {
			st.led = append(st.led, l)
		}
		if v.Role == history.Candidate && (st.views[i].Role != history.Candidate || st.views[i].Term != v.Term) {
			st.ran = append(st.ran, l)
		}
		st.views[i] = v
	})
	st.OnGranted(func(string, history.Vote) {})
	st.Start()
	st.run(15 * time.Millisecond) // all have started by then
	return st, nil
}

// counting is an Env whose messages are counted.
type counting struct {
	election.Env
	s *stand
}

// goingRound are the messages that an election's nodes send all the time, by its target: they are no part of its cost. A
// target that is not here has messages of which one cannot tell.
var goingRound = map[string][]string{
	"bully": {"HEARTBEAT"}, "ring": {"HEARTBEAT"}, "ring-max": {"HEARTBEAT"}, "candidate-ordinary": {"HEARTBEAT"},
	"next-in-line": {"HEARTBEAT", "ALIVE"}, "raft": {"AppendEntries", "AppendEntriesResponse"},
	"raft-prevote":       {"AppendEntries", "AppendEntriesResponse"},
	"blazingmq-scouting": {"LeaderHeartbeat", "HeartbeatResponse"},
	"zookeeper-recipe":   {"Ping", "Pong"}, "etcd-election": {"Ping", "Pong"},
}

// Send counts a message as it goes out. A heartbeat counts if it is the first of a leadership: it announces it.
func (c counting) Send(to election.ID, m election.Message) {
	s, from := c.s, c.ID()-1
	round := slices.Index(goingRound[s.target.Name], m.Kind)
	if round < 0 || round == 0 && !s.views[from].Claims() && s.nodes[from].Status().Role == election.Leader {
		s.sent++
		s.lastSent = s.Now()
	}
	if round == 0 {
		s.beat()
	}
	c.Env.Send(to, m)
}

// run lets time pass.
func (s *stand) run(d time.Duration) {
	if err := s.Run(context.Background(), s.Now()+d); err != nil {
		panic(err) // the context never ends
	}
}

// step is how often conditions are looked at.
const step = time.Millisecond

// until lets time pass until something is so, or the limit has passed, and reports which.
func (s *stand) until(limit time.Duration, so func() bool) bool {
	for end := s.Now() + limit; !so(); s.run(step) {
		if s.Now() >= end {
			return false
		}
	}
	return true
}

// leaders are the places of the running nodes that take themselves for the leader.
func (s *stand) leaders() (all []int) {
	for i, n := range s.nodes {
		if !s.down[i] && n.Status().Role == election.Leader {
			all = append(all, i)
		}
	}
	return all
}

// leader returns the place of the one leader that all running nodes name, or -1.
func (s *stand) leader() int {
	all := s.leaders()
	if len(all) != 1 {
		return -1
	}
	for i, n := range s.nodes {
		if !s.down[i] && n.Status().Leader != election.ID(all[0]+1) {
			return -1
		}
	}
	return all[0]
}

// known reports whether a majority names one leader that runs and takes itself for it, other than the one at a place.
func (s *stand) known(but int) bool {
	for _, l := range s.leaders() {
		names := 0
		for i, n := range s.nodes {
			if !s.down[i] && n.Status().Leader == election.ID(l+1) {
				names++
			}
		}
		if l != but && names > len(s.nodes)/2 {
			return true
		}
	}
	return false
}

// settle lets time pass until all name one leader, and returns its place.
func (s *stand) settle() (int, error) {
	if !s.until(10*s.bounds.Elect, func() bool { return s.leader() >= 0 }) {
		return -1, fmt.Errorf("no leader within %v of %v", 10*s.bounds.Elect, s.Now())
	}
	return s.leader(), nil
}

// established returns a stand whose leader has led for a while, and who else may lead.
func established(target string, nodes int, seed uint64) (s *stand, leader int, others []int, err error) {
	if s, err = (setup{target: target, nodes: nodes}).open(seed); err != nil {
		return nil, -1, nil, err
	}
	if _, err = s.settle(); err != nil {
		return nil, -1, nil, err
	}
	s.run(s.bounds.Elect)
	if leader, err = s.settle(); err != nil {
		return nil, -1, nil, err
	}
	return s, leader, slices.DeleteFunc(s.candidates(), func(i int) bool { return i == leader }), nil
}

// become changes the state of a node's process.
func (s *stand) become(place int, state history.ProcState) {
	s.down[place] = state != history.Up
	s.impose(history.Changes{Procs: []history.Proc{{Node: s.name(place), State: state}}})
}

// cut cuts or mends the links between two groups of nodes; one way only from the first to the second.
func (s *stand) cut(cut, oneWay bool, from, to []int) {
	var c history.Changes
	state := history.LinkState{Cut: cut}
	for _, a := range from {
		for _, b := range to {
			c.Links = append(c.Links, history.Link{From: s.name(a), To: s.name(b), LinkState: state})
			if !oneWay {
				c.Links = append(c.Links, history.Link{From: s.name(b), To: s.name(a), LinkState: state})
			}
		}
	}
	s.impose(c)
}

func (s *stand) impose(c history.Changes) {
	s.Apply(c, func(e history.Effect) {
		if e.Err != nil {
			panic(e.Err) // the simulator can impose anything on nodes that exist
		}
	})
}

func (s *stand) name(place int) string { return election.ID(place + 1).String() }

// candidates are the places of those that may lead.
func (s *stand) candidates() (all []int) {
	for i := range s.nodes {
		if election.ID(i+1) != s.target.Store {
			all = append(all, i)
		}
	}
	return all
}
