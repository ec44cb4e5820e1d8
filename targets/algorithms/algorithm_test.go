package algorithms_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
	"recount/sim"
	"recount/targets"
	_ "recount/targets/algorithms/etcdraft" // the laws hold for it, too
)

// world is a simulated cluster of one algorithm and what its nodes said.
type world struct {
	*sim.Cluster
	t      *testing.T
	bounds history.Bounds
	views  map[string]history.View
	led    []history.View               // every leadership that was announced, Leader being its holder
	votes  map[string]map[uint64]string // by voter and term
	twice  int                          // votes for a second candidate in one term
	nodes  map[string]election.Node
	down   map[string]bool // or paused

	sent    map[string]int // messages, by kind
	longest int            // list in one of them
}

// counted is an Env whose messages are counted.
type counted struct {
	election.Env
	w *world
}

func (c counted) Send(to election.ID, m election.Message) {
	c.w.sent[m.Kind]++
	c.w.longest = max(c.w.longest, len(m.List))
	c.Env.Send(to, m)
}

func newWorld(t *testing.T, target string, nodes int, seed uint64, given map[string]string) *world {
	found, err := targets.Find(target)
	require.NoError(t, err)
	o, err := found.Parse(given)
	require.NoError(t, err)
	w := &world{
		t: t, bounds: found.Bounds(o),
		views: map[string]history.View{}, votes: map[string]map[uint64]string{},
		nodes: map[string]election.Node{}, down: map[string]bool{}, sent: map[string]int{},
	}
	c, err := sim.New(sim.Config{
		Nodes: nodes, Seed: seed,
		New: func(env election.Env) election.Node {
			n := found.Node(o, counted{env, w})
			w.nodes[env.ID().String()] = n
			return n
		},
	})
	require.NoError(t, err)
	w.Cluster = c
	c.OnAnnounce(func(node string, v history.View) {
		if before := w.views[node]; v.Claims() && (!before.Claims() || before.Tenure != v.Tenure) {
			w.led = append(w.led, v)
		}
		w.views[node] = v
	})
	c.OnGranted(func(node string, v history.Vote) {
		if w.votes[node] == nil {
			w.votes[node] = map[uint64]string{}
		}
		if first := w.votes[node][v.Term]; first != "" && first != v.For {
			w.twice++
		}
		w.votes[node][v.Term] = v.For
	})
	c.Start()
	return w
}

// run lets time pass.
func (w *world) run(d time.Duration) {
	require.NoError(w.t, w.Run(context.Background(), w.Now()+d))
}

// leader lets time pass until a majority follows one leader, and returns it.
func (w *world) leader() string {
	for end := w.Now() + w.bounds.Elect; w.Now() < end; w.run(time.Millisecond) {
		for name, v := range w.views {
			followers := 0
			for _, f := range w.views {
				if f.Leader == name && f.Term == v.Term {
					followers++
				}
			}
			if v.Claims() && followers > len(w.Nodes())/2 {
				return name
			}
		}
	}
	require.FailNow(w.t, "no leader", "within %v; last seen: %v", w.bounds.Elect, w.views)
	return ""
}

// others returns the nodes but those named.
func (w *world) others(but ...string) (rest []string) {
next:
	for _, n := range w.Nodes() {
		for _, b := range but {
			if n == b {
				continue next
			}
		}
		rest = append(rest, n)
	}
	return rest
}

// cut cuts or heals the links between two groups, both ways.
func (w *world) cut(cut bool, a, b []string) {
	var c history.Changes
	for _, x := range a {
		for _, y := range b {
			s := history.LinkState{Cut: cut}
			c.Links = append(c.Links, history.Link{From: x, To: y, LinkState: s}, history.Link{From: y, To: x, LinkState: s})
		}
	}
	w.apply(c)
}

func (w *world) become(node string, s history.ProcState) {
	w.down[node] = s != history.Up
	w.apply(history.Changes{Procs: []history.Proc{{Node: node, State: s}}})
}

func (w *world) apply(c history.Changes) {
	w.Apply(c, func(e history.Effect) { require.NoError(w.t, e.Err) })
}

// algorithms calls f with every target that is an algorithm and promises something.
func algorithms(t *testing.T, promise string, f func(t *testing.T, target string)) {
	for _, target := range targets.All() {
		o, err := target.Parse(nil)
		require.NoError(t, err)
		if promised, _ := target.Promised(o, promise); promised && target.Node != nil {
			t.Run(target.Name, func(t *testing.T) { f(t, target.Name) })
		}
	}
}

// throughStore are the elections of which one member is the store, and never leads.
var throughStore = map[string]bool{
	"blob-lease": true, "kubernetes-lease": true, "zookeeper-recipe": true, "etcd-election": true,
}

func TestEveryAlgorithmElectsWithinItsBound(t *testing.T) {
	algorithms(t, "elects", func(t *testing.T, target string) {
		for _, nodes := range []int{1, 2, 3, 4, 5, 7, 9} {
			if nodes == 1 && throughStore[target] {
				continue
			}
			w := newWorld(t, target, nodes, uint64(nodes), nil)
			first := w.leader()
			w.run(2 * w.bounds.Elect)
			require.Equal(t, first, w.leader(), "a leader that nothing disturbs stays")
			if nodes < 3 {
				continue
			}
			w.become(first, history.Down)
			delete(w.views, first)
			second := w.leader()
			require.NotEqual(t, first, second)
			w.become(first, history.Up)
			w.run(w.bounds.Elect)
			require.Equal(t, w.views[w.leader()].Term, w.views[first].Term, "who returns follows")
		}
	})
}

// Nodes die, lose what was not synced, and are cut off at random. However that goes, no node says yes twice in a term
// and no term has two leaders.
func TestEveryAlgorithmIsSafe(t *testing.T) {
	algorithms(t, "single-leader-per-term", func(t *testing.T, target string) {
		for seed := uint64(1); seed <= 20; seed++ {
			twice, shared := disturb(t, target, seed, history.Crashed, nil)
			require.Zero(t, twice, "seed %d: votes given twice", seed)
			require.Zero(t, shared, "seed %d: terms with two leaders", seed)
		}
	})
}

func TestForgottenTermsAreGivenTwice(t *testing.T) {
	twice, shared := 0, 0
	for seed := uint64(1); seed <= 200 && (twice == 0 || shared == 0); seed++ {
		a, b := disturb(t, "blazingmq-scouting", seed, history.Crashed, map[string]string{"forget-term": "true"})
		twice, shared = twice+a, shared+b
	}
	require.Positive(t, twice, "votes given twice")
	require.Positive(t, shared, "terms with two leaders")
}

// disturb runs five nodes through random faults, some of them deaths. It returns the votes that were given twice and
// the terms that were won by two nodes.
func disturb(
	t *testing.T, target string, seed uint64, death history.ProcState, given map[string]string,
) (twice, shared int) {
	w := newWorld(t, target, 5, seed, given)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		w.run(time.Duration(r.Int64N(int64(w.bounds.Silence))))
		node := w.Nodes()[r.IntN(5)]
		switch r.IntN(4) {
		case 0:
			w.become(node, death)
			w.run(time.Duration(r.Int64N(int64(w.bounds.Silence))))
			w.become(node, history.Up)
		case 1:
			w.become(node, history.Paused)
			w.run(time.Duration(r.Int64N(int64(w.bounds.Silence))))
			w.become(node, history.Up)
		default:
			w.cut(r.IntN(2) == 0, []string{node}, w.others(node)[r.IntN(4):])
		}
	}
	winner := map[uint64]string{}
	for _, v := range w.led {
		if first := winner[v.Term]; first != "" && first != v.Leader {
			shared++
		}
		winner[v.Term] = v.Leader
	}
	require.NotEmpty(t, winner)
	return w.twice, shared
}

// A follower is cut off from all others until it has campaigned many times over, and returns.
func TestReturningFollower(t *testing.T) {
	for target, deposes := range map[string]bool{
		"raft": true, "raft-prevote": false, "blazingmq-term": true, "blazingmq-scouting": false,
	} {
		t.Run(target, func(t *testing.T) {
			for seed := uint64(1); seed <= 10; seed++ {
				w := newWorld(t, target, 4, seed, nil)
				leader := w.leader()
				before := w.views[leader]
				alone := w.others(leader)[seed%3]
				w.cut(true, []string{alone}, w.others(alone))
				w.run(5 * w.bounds.Elect)
				require.Equal(t, before, w.views[leader], "seed %d: the leader keeps its majority", seed)
				if !deposes {
					require.Equal(t, before.Term, w.views[alone].Term, "seed %d: the term of who cannot win", seed)
				}
				w.cut(false, []string{alone}, w.others(alone))
				w.run(w.bounds.Elect)
				require.Equal(t, deposes, before != w.views[leader], "seed %d: %v", seed, w.views)
			}
		})
	}
}

// Only the link between the leader and one follower is cut. Both reach the other two nodes.
func TestOneCutLink(t *testing.T) {
	for target, bounces := range map[string]bool{
		"raft": true, "raft-prevote": false, "blazingmq-term": true, "blazingmq-scouting": false,
	} {
		t.Run(target, func(t *testing.T) {
			for seed := uint64(1); seed <= 10; seed++ {
				w := newWorld(t, target, 4, seed, nil)
				a := w.leader()
				b := w.others(a)[seed%3]
				w.led = nil
				w.cut(true, []string{a}, []string{b})
				w.run(20 * time.Second)
				if !bounces {
					require.Empty(t, w.led, "seed %d", seed)
					continue
				}
				require.Greater(t, len(w.led), 10, "seed %d", seed)
				for i, v := range w.led {
					require.Equal(t, []string{b, a}[i%2], v.Leader, "seed %d: leadership %d of %v", seed, i, w.led)
				}
			}
		})
	}
}

// A leader is left with one follower, which still hears it. The other nodes are a majority only together with that
// follower.
func TestLeaderWithoutMajorityLetsItsFollowerGo(t *testing.T) {
	for _, target := range []string{"raft", "raft-prevote", "blazingmq-term", "blazingmq-scouting"} {
		t.Run(target, func(t *testing.T) {
			for seed := uint64(1); seed <= 10; seed++ {
				w := newWorld(t, target, 4, seed, nil)
				leader := w.leader()
				follower := w.others(leader)[seed%3]
				w.cut(true, []string{leader}, w.others(leader, follower))
				w.run(w.bounds.Elect)
				require.NotEqual(t, leader, w.leader(), "seed %d", seed)
			}
		})
	}
}
