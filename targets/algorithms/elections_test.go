package algorithms_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
	"recount/internal/testlong"
	"recount/targets"
)

// What the elections do that ask nobody, each by the claim that its source makes or is held against it.

// leaders are the running nodes that take themselves for the leader, now.
func (w *world) leaders() (all []string) {
	for n, node := range w.nodes {
		if !w.down[n] && node.Status().Role == election.Leader {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// settled reports whether all running nodes name the same leader, who agrees.
func (w *world) settled() bool {
	leaders := w.leaders()
	if len(leaders) != 1 {
		return false
	}
	for n, node := range w.nodes {
		if !w.down[n] && node.Status().Leader.String() != leaders[0] {
			return false
		}
	}
	return len(w.nodes) == len(w.Nodes())
}

// settle lets time pass until the election is settled, and returns the leader.
func (w *world) settle() string {
	for end := w.Now() + w.bounds.Elect; w.Now() < end; w.run(time.Millisecond) {
		if w.settled() {
			return w.leaders()[0]
		}
	}
	require.FailNow(w.t, "not settled", "within %v; last seen: %v", w.bounds.Elect, w.views)
	return ""
}

// split cuts the cluster in two: the given nodes, and the others.
func (w *world) split(cut bool, part ...string) { w.cut(cut, part, w.others(part...)) }

// bySheerLuck are the elections that may have two leaders without any fault.
var bySheerLuck = map[string]bool{"random-backoff": true, "blazingmq-naive": true}

func TestEveryAlgorithmElectsOneLeaderWithoutFaults(t *testing.T) {
	for _, target := range targets.All() {
		if target.Node == nil {
			continue
		}
		t.Run(target.Name, func(t *testing.T) {
			for nodes := 2; nodes <= 9; nodes++ {
				lucky := 0
				for seed := uint64(1); seed <= 10; seed++ {
					w := newWorld(t, target.Name, nodes, seed, nil)
					w.run(w.bounds.Elect)
					if bySheerLuck[target.Name] {
						if w.settled() {
							lucky++
						}
						continue
					}
					first := w.settle()
					for range 100 {
						w.run(w.bounds.Elect / 50)
						require.True(t, w.settled(), "seed %d: %v", seed, w.views)
					}
					require.Equal(t, first, w.leaders()[0], "seed %d: a leader that nothing disturbs stays", seed)
				}
				if bySheerLuck[target.Name] {
					require.Positive(t, lucky)
				}
			}
		})
	}
}

// Nodes die, stand still and are cut off at random, and messages are lost, late and out of order. However that goes, there
// are never two leaders at one instant, unless it is what a promise is excused by.
func TestExclusiveLeadership(t *testing.T) {
	seeds := uint64(4)
	if testlong.Asked() {
		seeds = 20
	}
	algorithms(t, "exclusive-leadership", func(t *testing.T, target string) {
		found, err := targets.Find(target)
		require.NoError(t, err)
		led := 0
		for seed := uint64(1); seed <= seeds; seed++ {
			w := newWorld(t, target, 3+int(seed%4), seed, nil)
			r := rand.New(rand.NewPCG(seed, 1))
			for range 40 {
				var c history.Changes
				node := w.Nodes()[r.IntN(len(w.Nodes()))]
				others := w.others(node)
				r.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
				bad := history.LinkState{Cut: true}
				if r.IntN(2) == 0 {
					bad = history.LinkState{Jitter: w.bounds.Silence / 4, Loss: 0.1, Duplicate: 0.1}
				}
				for _, to := range others[:1+r.IntN(len(others))] {
					c.Links = append(c.Links, history.Link{From: node, To: to, LinkState: bad})
					if r.IntN(3) > 0 {
						c.Links = append(c.Links, history.Link{From: to, To: node, LinkState: bad})
					}
				}
				switch r.IntN(5) {
				case 0:
					c = history.Changes{Procs: []history.Proc{{Node: node, State: history.Crashed}}}
				case 1:
					c = history.Changes{Procs: []history.Proc{{Node: node, State: history.Paused}}}
				case 2:
					for i := range c.Links {
						c.Links[i].LinkState = history.LinkState{}
					}
				}
				if !found.Excused("exclusive-leadership", c) {
					w.apply(c)
				}
				watch := time.Duration(r.Int64N(2 * int64(w.bounds.Silence)))
				for end := w.Now() + watch; w.Now() < end; w.run(time.Millisecond) {
					require.LessOrEqual(t, len(w.leaders()), 1, "seed %d, %v: %v", seed, w.Now(), w.leaders())
				}
				w.become(node, history.Up)
			}
			led += len(w.led)
		}
		require.Greater(t, led, int(seeds), "leaderships, over all runs")
	})
}

// The cluster is split in two. Where a majority is asked, one part at most has a leader; elsewhere both have.
func TestSplitBrain(t *testing.T) {
	for target, splits := range map[string]bool{
		"heartbeat-only": true, "bully": true, "bully-no-timeout": true, "next-in-line": true,
		"candidate-ordinary": true, "invitation": true, "ring": true, "ring-max": true, "stable-leader": true,
		"highest-address": false, "bully-quorum": false, "leader-lease": false,
	} {
		t.Run(target, func(t *testing.T) {
			for seed := uint64(1); seed <= 10; seed++ {
				w := newWorld(t, target, 5, seed, nil)
				leader := w.settle()
				part := w.others(leader)[:2]
				if target == "candidate-ordinary" {
					part = []string{"n3", "n4"} // a candidate is on either side
				}
				w.split(true, part...)
				w.run(w.bounds.Elect)
				if splits {
					require.Len(t, w.leaders(), 2, "seed %d", seed)
				} else {
					require.LessOrEqual(t, len(w.leaders()), 1, "seed %d", seed)
				}
				w.split(false, part...)
				w.settle()
			}
		})
	}
}

// Whatever tells silence from failure, a dead leader is replaced and a live one is not, though heartbeats vary.
func TestEveryDetectorFindsADeadLeader(t *testing.T) {
	algorithms(t, "elects", func(t *testing.T, target string) {
		found, err := targets.Find(target)
		require.NoError(t, err)
		if !slices.ContainsFunc(found.Options, func(o targets.Option) bool { return o.Name == "detector" }) {
			return
		}
		for _, detector := range []string{"threshold", "phi-accrual"} {
			for seed := uint64(1); seed <= 5; seed++ {
				w := newWorld(t, target, 5, seed, map[string]string{"detector": detector})
				var jitter history.Changes
				for _, from := range w.Nodes() {
					for _, to := range w.others(from) {
						s := history.LinkState{Delay: 10 * time.Millisecond, Jitter: 10 * time.Millisecond}
						jitter.Links = append(jitter.Links, history.Link{From: from, To: to, LinkState: s})
					}
				}
				w.run(w.bounds.Elect)
				first := w.settle()
				w.apply(jitter)
				w.led = nil
				w.run(10 * w.bounds.Elect)
				require.Empty(t, w.led, "%s, seed %d", detector, seed)
				w.become(first, history.Down)
				require.NotEqual(t, first, w.settle(), "%s, seed %d", detector, seed)
			}
		}
	})
}
