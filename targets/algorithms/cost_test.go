package algorithms_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
)

// What elections cost, in messages and in time.

// Garcia-Molina, section III: at worst everybody misses the leader and asks all above it; at best the highest returns
// and asks nobody.
func TestBullyMessages(t *testing.T) {
	for _, nodes := range []int{3, 5, 10, 20, 50} {
		w := newWorld(t, "bully", nodes, 1, nil)
		w.run(w.bounds.Elect)
		highest := w.settle()
		w.become(highest, history.Down)
		clear(w.sent)
		w.settle()
		require.Equal(t, nodes*(nodes-1)/2, w.sent["ELECTION"])
		require.Equal(t, (nodes-1)*(nodes-2)/2, w.sent["OK"])
		require.Equal(t, nodes-1, w.sent["COORDINATOR"])

		clear(w.sent)
		w.become(highest, history.Up)
		w.settle()
		require.Zero(t, w.sent["ELECTION"]+w.sent["OK"])
		require.Equal(t, nodes-1, w.sent["COORDINATOR"])
	}
}

// A node misses the leader, and nobody else does: one message goes round.
func TestRingMessages(t *testing.T) {
	for _, target := range []string{"ring", "ring-max"} {
		for _, nodes := range []int{3, 5, 10, 20, 50} {
			w := newWorld(t, target, nodes, 1, nil)
			w.run(w.bounds.Elect)
			leader := w.settle()
			clear(w.sent)
			alone := w.others(leader)[0]
			w.apply(history.Changes{Links: []history.Link{{From: leader, To: alone, LinkState: history.LinkState{Cut: true}}}})
			for w.sent["ELECTED"] < nodes {
				w.run(time.Millisecond)
			}
			w.run(w.bounds.Silence / 10)
			require.Equal(t, nodes, w.sent["ELECTION"], "%s of %d", target, nodes)
			require.Equal(t, nodes, w.sent["ELECTED"], "%s of %d", target, nodes)
		}
	}
}

// All miss the leader at once, and the successor of one of them is dead: that finds it out once, and not with each of their messages.
func TestRingPastTheDead(t *testing.T) {
	for _, target := range []string{"ring", "ring-max"} {
		w := newWorld(t, target, 20, 1, nil)
		w.run(w.bounds.Elect)
		w.become(w.settle(), history.Down)
		w.run(w.bounds.Elect)
		w.settle()
		w.nodes[w.leaders()[0]].(election.Resigner).Resign()
		w.run(500 * time.Millisecond)
		clear(w.sent)
		w.run(w.bounds.Elect)
		require.Zero(t, w.sent["ELECTION"]+w.sent["ELECTED"], "%s: all that went round is over", target)
	}
}

// All that is sent comes twice: it is passed on once, and each of a few elections is over soon.
func TestRingTwice(t *testing.T) {
	for _, target := range []string{"ring", "ring-max"} {
		w := newWorld(t, target, 13, 1, nil)
		w.run(w.bounds.Elect)
		leader := w.settle()
		var twice history.Changes
		for node := range w.nodes {
			for _, other := range w.others(node) {
				twice.Links = append(twice.Links, history.Link{From: node, To: other, LinkState: history.LinkState{Duplicate: 1}})
			}
		}
		w.apply(twice)
		clear(w.sent)
		w.become(leader, history.Down)
		w.run(w.bounds.Elect)
		w.settle()
		require.LessOrEqual(t, w.sent["ELECTED"], 12*13, "%s: once round for each who missed the leader", target)
		clear(w.sent)
		w.run(w.bounds.Elect)
		require.Zero(t, w.sent["ELECTION"]+w.sent["ELECTED"], "%s: all that went round is over", target)
	}
}

// ring-max's messages are of one size, ring's grow with the ring.
func TestRingMaxMessagesDoNotGrow(t *testing.T) {
	for target, longest := range map[string]int{"ring": 20, "ring-max": 0} {
		w := newWorld(t, target, 20, 1, nil)
		w.run(w.bounds.Elect)
		require.Equal(t, longest, w.longest, target)
	}
}

// The leader dies, and the next in line is alive: it takes over at once. Bully waits for the dead leader's answer.
func TestNextInLineTakesFewerSteps(t *testing.T) {
	type cost struct {
		messages int
		gap      time.Duration
	}
	costs := map[string]cost{}
	for _, target := range []string{"bully", "next-in-line", "candidate-ordinary"} {
		w := newWorld(t, target, 9, 1, nil)
		w.run(w.bounds.Elect)
		require.Equal(t, "n9", w.settle())
		clear(w.sent)
		w.become("n9", history.Down)
		began := w.Now()
		require.Equal(t, "n8", w.settle())
		sent := 0
		for kind, n := range w.sent {
			if kind != "HEARTBEAT" {
				sent += n
			}
		}
		costs[target] = cost{sent, w.Now() - began}
	}
	t.Log(fmt.Sprint(costs))
	require.Less(t, costs["next-in-line"].messages, costs["bully"].messages/2)
	require.Less(t, costs["candidate-ordinary"].messages, costs["bully"].messages/2)
	require.Less(t, costs["next-in-line"].gap, costs["bully"].gap)
	require.Less(t, costs["candidate-ordinary"].gap, costs["bully"].gap)
}
