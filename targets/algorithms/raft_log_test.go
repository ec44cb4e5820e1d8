package algorithms_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
)

// ask gives a command to a node and lets time pass until it is answered, for half a second at most.
func (w *world) ask(node string, c election.Command) (value uint64, ok bool) {
	answered := false
	w.Command(node, c, func(v uint64, err error) { value, answered, ok = v, true, err == nil })
	for end := w.Now() + 500*time.Millisecond; !answered && w.Now() < end; w.run(time.Millisecond) {
	}
	return value, ok
}

// lostWrites has one client after the other write growing values and read them, at any node, while nodes are cut off and their
// machines die. It counts the reads that miss an acknowledged write, and all that were answered.
func lostWrites(t *testing.T, target string, seed uint64, given map[string]string) (lost, answered int) {
	w := newWorld(t, target, 3, seed, given)
	r := rand.New(rand.NewPCG(seed, 2))
	written, acknowledged := uint64(0), uint64(0)
	for range 60 {
		node := w.Nodes()[r.IntN(3)]
		switch r.IntN(4) {
		case 0:
			w.split(true, node)
		case 1:
			w.become(node, history.Crashed)
			w.become(node, history.Up)
		default:
			w.split(false, node)
		}
		w.run(time.Duration(r.Int64N(int64(w.bounds.Silence))))
		for _, n := range w.Nodes() {
			written++
			if _, ok := w.ask(n, election.Command{Do: election.Put, Value: written}); ok {
				acknowledged = written
			}
		}
		for _, n := range w.Nodes() {
			if v, ok := w.ask(n, election.Command{Do: election.Get}); ok {
				answered++
				if v < acknowledged {
					lost++
				}
			}
		}
	}
	return lost, answered
}

// Figures 3 and 8 of the paper: what is committed stays, and what is read is not older than what was acknowledged.
func TestRaftKeepsWhatWasAcknowledged(t *testing.T) {
	for _, target := range []string{"raft", "raft-prevote", "raft-lease-reads", "etcd-raft"} {
		answered := 0
		for seed := uint64(1); seed <= 10; seed++ {
			lost, n := lostWrites(t, target, seed, nil)
			require.Zero(t, lost, "%s, seed %d", target, seed)
			answered += n
		}
		require.Greater(t, answered, 100, target)
	}
	for _, footgun := range []string{"stale-log", "no-quorum-check"} {
		lost := 0
		for seed := uint64(1); seed <= 40 && lost == 0; seed++ {
			n, _ := lostWrites(t, "raft", seed, map[string]string{footgun: "true"})
			lost += n
		}
		require.Positive(t, lost, footgun)
	}
}

// A log of many entries is stored in pieces, and taken up whole.
func TestRaftTakesUpItsLog(t *testing.T) {
	w := newWorld(t, "raft", 3, 1, nil)
	leader := w.leader()
	for v := uint64(1); v <= 100; v++ {
		_, ok := w.ask(leader, election.Command{Do: election.Put, Value: v})
		require.True(t, ok)
	}
	for _, n := range w.Nodes() {
		w.become(n, history.Crashed)
	}
	for _, n := range w.Nodes() {
		delete(w.views, n)
		w.become(n, history.Up)
	}
	got, ok := w.ask(w.leader(), election.Command{Do: election.Get})
	require.True(t, ok)
	require.EqualValues(t, 100, got)
}

// A node that is restarted applies again what came after its last checkpoint, and no more: how long a run takes would else grow with the
// square of its writes.
func TestRaftAppliesFromItsCheckpointOn(t *testing.T) {
	w := newWorld(t, "raft", 3, 1, nil)
	var applied []uint64
	w.OnApplied(func(node string, u history.Update) {
		if node == "n1" {
			applied = append(applied, u.Counter)
		}
	})
	write := func(from, to uint64) {
		for leader := w.leader(); from <= to; from++ {
			_, ok := w.ask(leader, election.Command{Do: election.Put, Value: from})
			require.True(t, ok)
		}
	}
	restart := func() {
		applied = nil
		for _, n := range w.Nodes() {
			w.become(n, history.Crashed)
		}
		for _, n := range w.Nodes() {
			delete(w.views, n)
			w.become(n, history.Up)
		}
	}
	write(1, 2000)
	restart()
	write(2001, 2100)
	require.EqualValues(t, 1, applied[0], "there was none yet")
	restart()
	write(2101, 2200)
	require.EqualValues(t, 2049, applied[0])
	got, ok := w.ask(w.leader(), election.Command{Do: election.Get})
	require.True(t, ok)
	require.EqualValues(t, 2200, got)
}

// Updates of BlazingMQ's leaders carry their term, and that of a stale leader goes unheard.
func TestBlazingmqDropsStaleUpdates(t *testing.T) {
	for _, target := range []string{"blazingmq-term", "blazingmq-scouting"} {
		w := newWorld(t, target, 5, 1, nil)
		type number struct{ term, counter uint64 }
		last := map[string]number{}
		applied := 0
		w.OnApplied(func(node string, u history.Update) {
			before := last[node]
			require.True(t, u.Term > before.term || u.Term == before.term && u.Counter > before.counter, "%s: %+v after %+v", node, u, before)
			last[node] = number{u.Term, u.Counter}
			applied++
		})
		old := w.leader()
		minority := []string{old, w.others(old)[0]}
		for _, cut := range []bool{true, false} {
			w.split(cut, minority...)
			for range 100 {
				for _, n := range w.Nodes() {
					w.Command(n, election.Command{Do: election.Update}, func(uint64, error) {})
				}
				w.run(w.bounds.Elect / 50)
			}
		}
		require.Greater(t, applied, 100)
	}
}
