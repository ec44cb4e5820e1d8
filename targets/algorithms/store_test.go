package algorithms_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
)

// What the elections through a store do, and what they are known for.

var storeRecipes = []string{"blob-lease", "kubernetes-lease", "zookeeper-recipe", "etcd-election"}

// overlap lets time pass and returns for how long of it there were two leaders.
func (w *world) overlap(d time.Duration) (two time.Duration) {
	for end := w.Now() + d; w.Now() < end; w.run(time.Millisecond) {
		if len(w.leaders()) > 1 {
			two += time.Millisecond
		}
	}
	return two
}

// The store goes away: nobody can lead. It returns: one does again.
func TestStoreOutage(t *testing.T) {
	for _, target := range storeRecipes {
		t.Run(target, func(t *testing.T) {
			for seed := uint64(1); seed <= 10; seed++ {
				w := newWorld(t, target, 5, seed, nil)
				w.settle()
				w.become("n1", history.Down)
				w.run(w.bounds.Elect)
				require.Empty(t, w.leaders(), "seed %d", seed)
				w.become("n1", history.Up)
				w.settle()
			}
		})
	}
}

// Candidates ping so often that the store never has a quiet moment between two looks for sessions that have run out.
func TestManyCandidatesDoNotKeepADeadLeader(t *testing.T) {
	for _, target := range storeRecipes {
		t.Run(target, func(t *testing.T) {
			w := newWorld(t, target, 40, 1, nil)
			leader := w.settle()
			w.become(leader, history.Down)
			require.NotEqual(t, leader, w.settle())
		})
	}
}

// A leader resigns at any moment, also while a renewal of its is on its way.
func TestResignationsAreNotTakenBack(t *testing.T) {
	for _, target := range storeRecipes {
		t.Run(target, func(t *testing.T) {
			for seed := uint64(1); seed <= 200; seed++ {
				w := newWorld(t, target, 3, seed, nil)
				old := w.settle()
				w.run(w.bounds.Elect + time.Duration(seed)*time.Millisecond)
				if leaders := w.leaders(); len(leaders) != 1 || leaders[0] != old {
					continue
				}
				w.nodes[old].(election.Resigner).Resign()
				w.run(w.bounds.Silence / 2)
				require.NotContains(t, w.leaders(), old, "seed %d", seed)
			}
		})
	}
}

// The store's process dies and is back at once: what it gave is on its disk, so the leader stays.
func TestStoreRemembers(t *testing.T) {
	for _, target := range storeRecipes {
		t.Run(target, func(t *testing.T) {
			for seed := uint64(1); seed <= 10; seed++ {
				w := newWorld(t, target, 5, seed, nil)
				leader := w.settle()
				before := w.views[leader].Term
				w.run(w.bounds.Elect)
				w.become("n1", history.Crashed)
				w.run(10 * time.Millisecond)
				w.become("n1", history.Up)
				require.Zero(t, w.overlap(w.bounds.Elect))
				require.Equal(t, leader, w.settle(), "seed %d", seed)
				require.Equal(t, before, w.views[leader].Term, "seed %d", seed)
			}
		})
	}
}

// A leader's process dies and is back at once. It is another candidate then: nobody leads until the lease of the dead one
// has run out.
func TestRestartedHolderIsAnotherCandidate(t *testing.T) {
	for _, target := range storeRecipes {
		t.Run(target, func(t *testing.T) {
			for seed := uint64(1); seed <= 10; seed++ {
				w := newWorld(t, target, 5, seed, nil)
				leader := w.settle()
				w.run(w.bounds.Elect)
				before := w.views[leader].Term
				w.become(leader, history.Down)
				w.become(leader, history.Up)
				for range 20 {
					require.Empty(t, w.leaders(), "seed %d", seed)
					w.run(w.bounds.Silence / 50)
				}
				require.Greater(t, w.views[w.settle()].Term, before, "seed %d", seed)
			}
		})
	}
}

// A leader stands still until another has the post: its token is older than the other's, and once it runs again it finds
// out that its time is over.
func TestPausedHolder(t *testing.T) {
	for _, target := range append([]string{"leader-lease"}, storeRecipes...) {
		t.Run(target, func(t *testing.T) {
			for seed := uint64(1); seed <= 10; seed++ {
				w := newWorld(t, target, 5, seed, nil)
				old := w.settle()
				w.run(w.bounds.Elect)
				before := w.views[old].Term
				w.become(old, history.Paused)
				w.run(w.bounds.Elect)
				require.Greater(t, w.views[w.settle()].Term, before, "seed %d: a fencing token", seed)
				w.become(old, history.Up)
				w.settle()
			}
		})
	}
}

// The holder loses the store. Its clock tells it when its lease is over: before the store thinks so, if it leaves a
// margin, and about when the store does, in etcd, whose client and server both look at intervals.
func TestHolderWithoutStore(t *testing.T) {
	for _, c := range []struct {
		target, clock string
		err           history.Clock
		two           bool
	}{
		{"blob-lease", "monotonic", history.Clock{}, false},
		{"kubernetes-lease", "monotonic", history.Clock{}, false},
		{"zookeeper-recipe", "monotonic", history.Clock{}, false},
		{"etcd-election", "monotonic", history.Clock{}, true},
		{"blob-lease", "monotonic", history.Clock{Offset: -time.Hour}, false},
		{"kubernetes-lease", "monotonic", history.Clock{Offset: -time.Hour}, false},
		{"zookeeper-recipe", "monotonic", history.Clock{Offset: -time.Hour}, false},
		{"blob-lease", "wall", history.Clock{Offset: -time.Hour}, true},
		{"kubernetes-lease", "wall", history.Clock{Offset: -time.Hour}, true},
		{"zookeeper-recipe", "wall", history.Clock{Offset: -time.Hour}, true},
		{"blob-lease", "monotonic", history.Clock{Drift: -0.1}, true},
		{"kubernetes-lease", "monotonic", history.Clock{Drift: -0.1}, false},
		{"zookeeper-recipe", "monotonic", history.Clock{Drift: -0.1}, false},
		{"kubernetes-lease", "monotonic", history.Clock{Drift: -0.5}, true},
		{"zookeeper-recipe", "monotonic", history.Clock{Drift: -0.5}, true},
	} {
		longest, runs := time.Duration(0), 0
		for seed := uint64(1); seed <= 20; seed++ {
			w := newWorld(t, c.target, 5, seed, map[string]string{"clock": c.clock})
			holder := w.settle()
			w.run(w.bounds.Elect + time.Duration(seed)*17*time.Millisecond)
			w.split(true, holder)
			c.err.Node = holder
			w.apply(history.Changes{Clocks: []history.Clock{c.err}})
			if two := w.overlap(3 * w.bounds.Silence); two > 0 {
				runs++
				longest = max(longest, two)
			}
		}
		t.Logf("%v: two leaders in %d of 20 runs, for %v at most", c, runs, longest)
		require.Equal(t, c.two, runs > 0, "%v", c)
		if c.target == "etcd-election" {
			require.LessOrEqual(t, longest, 60*time.Millisecond, "one look, and the way to the client")
		}
	}
}

// Leaders come in the order in which they joined, who returns joins at the end, and a departure wakes one candidate.
func TestLineKeepsItsOrder(t *testing.T) {
	for _, target := range []string{"zookeeper-recipe", "etcd-election"} {
		t.Run(target, func(t *testing.T) {
			w := newWorld(t, target, 5, 1, nil)
			w.settle()
			var order []string
			for range 12 {
				w.run(w.bounds.Elect)
				clear(w.sent)
				leader := w.settle()
				order = append(order, leader)
				w.become(leader, history.Down)
				w.run(w.bounds.Silence)
				require.Equal(t, 1, w.sent["Gone"])
				w.become(leader, history.Up)
			}
			require.ElementsMatch(t, []string{"n2", "n3", "n4", "n5"}, order[:4])
			require.Equal(t, order[:4], order[4:8])
			require.Equal(t, order[:4], order[8:])
		})
	}
}
