package algorithms_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
)

// Each mistake in raft shows under the fault that it takes, and correct raft does not have it.
func TestRaftFootguns(t *testing.T) {
	for _, c := range []struct {
		option, target string
		nodes          int
		wrong          func(w *world) bool // brings about what takes the mistake, and tells whether it shows
	}{
		{"synchronized-timeouts", "raft", 5, func(w *world) bool {
			w.run(10 * w.bounds.Elect)
			return len(w.led) == 0
		}},
		{"ignore-higher-term", "raft", 5, func(w *world) bool {
			old := w.settle()
			w.split(true, old)
			w.run(w.bounds.Elect)
			w.split(false, old)
			w.run(10 * w.bounds.Elect)
			return len(w.leaders()) == 2 && w.views[old].Role == history.Leader
		}},
		{"no-quorum-check", "raft-prevote", 5, func(w *world) bool {
			old := w.settle()
			w.split(true, old, w.others(old)[0])
			w.run(10 * w.bounds.Elect)
			return len(w.leaders()) == 2 && w.views[old].Role == history.Leader
		}},
		{"no-heartbeat-timeout", "raft", 5, func(w *world) bool {
			w.become(w.settle(), history.Down)
			w.run(10 * w.bounds.Elect)
			return len(w.leaders()) == 0
		}},
		{"no-backtrack", "raft-prevote", 3, func(w *world) bool {
			old := w.settle()
			w.split(true, w.others(old)[0])
			_, written := w.ask(old, election.Command{Do: election.Put, Value: 1})
			require.True(t, written)
			w.split(false, w.others(old)[0])
			w.split(true, old) // who has the entry is elected, and the other one lacks it
			w.run(w.bounds.Elect)
			_, written = w.ask(w.leader(), election.Command{Do: election.Put, Value: 2})
			return !written
		}},
		{"leader-by-vote", "raft-prevote", 5, func(w *world) bool {
			old := w.leader()
			away := w.others(old)[0]
			w.split(true, away)
			w.become(old, history.Down)
			w.run(w.bounds.Elect) // the others elect
			w.split(false, away)
			w.run(w.bounds.Elect)
			return len(w.leaders()) == 1 && w.views[away].Leader == ""
		}},
		{"minority-quorum", "raft", 4, func(w *world) bool {
			w.split(true, "n1", "n2")
			w.run(w.bounds.Elect)
			a, b := w.views[w.views["n1"].Leader], w.views[w.views["n3"].Leader]
			return len(w.leaders()) == 2 && a.Term == b.Term
		}},
	} {
		t.Run(c.option, func(t *testing.T) {
			shown := 0
			for seed := uint64(1); seed <= 10; seed++ {
				if c.wrong(newWorld(t, c.target, c.nodes, seed, map[string]string{c.option: "true"})) {
					shown++
				}
				require.False(t, c.wrong(newWorld(t, c.target, c.nodes, seed, nil)), "seed %d: correct", seed)
			}
			require.Greater(t, shown, 5, "of 10 runs")
		})
	}
}

// Votes that are given twice elect two leaders in one term. Those that were not synced are so only after the death of a
// machine: a process that is killed leaves them behind.
func TestVotesGivenTwice(t *testing.T) {
	for _, c := range []struct {
		option string
		death  history.ProcState
		seen   bool
	}{
		{"forget-vote", history.Down, true}, {"forget-vote", history.Crashed, true},
		{"unsynced-vote", history.Down, false}, {"unsynced-vote", history.Crashed, true},
		{"vote-twice", history.Down, true},
	} {
		t.Run(c.option+" "+string(c.death), func(t *testing.T) {
			twice, shared := 0, 0
			for seed := uint64(1); seed <= 100 && (!c.seen || twice == 0 || shared == 0); seed++ {
				a, b := disturb(t, "raft", seed, c.death, map[string]string{c.option: "true"})
				twice, shared = twice+a, shared+b
			}
			require.Equal(t, c.seen, twice > 0, "votes given twice: %d", twice)
			require.Equal(t, c.seen, shared > 0, "terms with two leaders: %d", shared)
		})
	}
}
