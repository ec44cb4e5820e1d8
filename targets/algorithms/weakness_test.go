package algorithms_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
	"recount/targets"
)

// Each wrong election goes wrong in the way that it is there for.

func TestHighestAddressKeepsADeadLeader(t *testing.T) {
	w := newWorld(t, "highest-address", 5, 1, nil)
	require.Equal(t, "n5", w.settle())
	w.become("n5", history.Down)
	w.run(10 * w.bounds.Elect)
	require.Empty(t, w.leaders())
	require.Equal(t, "n5", w.views["n1"].Leader)

	w = newWorld(t, "highest-address", 5, 1, map[string]string{"leader": "lowest"})
	require.Equal(t, "n1", w.settle())
}

// Two claims, or two proposals, within the time a message takes make two leaders, and nothing ends that.
func TestTwoLeadersWithoutAnyFault(t *testing.T) {
	for _, target := range []string{"random-backoff", "blazingmq-naive"} {
		t.Run(target, func(t *testing.T) {
			split := 0
			for seed := uint64(1); seed <= 100; seed++ {
				w := newWorld(t, target, 5, seed, nil)
				w.run(w.bounds.Elect)
				several := w.leaders()
				w.run(10 * w.bounds.Elect)
				require.Equal(t, several, w.leaders(), "seed %d", seed)
				if len(several) > 1 {
					split++
				}
			}
			t.Logf("%d of 100 runs", split)
			require.NotZero(t, split)
			require.Less(t, split, 50, "it is bad luck, and not the rule")
		})
	}
}

// A node dies after it has answered OK.
func TestBullyWithoutTimeoutHangs(t *testing.T) {
	for target, hangs := range map[string]bool{"bully": false, "bully-no-timeout": true} {
		for seed := uint64(1); seed <= 10; seed++ {
			w := newWorld(t, target, 5, seed, nil)
			w.run(w.bounds.Elect)
			require.Equal(t, "n5", w.settle())
			w.become("n5", history.Down)
			for asked := w.sent["OK"]; w.sent["OK"] < asked+6; w.run(time.Millisecond) { // n1 to n3 have asked n4, and so on
			}
			w.run(10 * time.Millisecond)
			w.become("n4", history.Down)
			if !hangs {
				require.Equal(t, "n3", w.settle())
				continue
			}
			w.run(20 * w.bounds.Elect)
			require.Empty(t, w.leaders(), "seed %d", seed)
			w.become("n4", history.Up)
			require.Equal(t, "n4", w.settle(), "until one returns")
		}
	}
}

// The highest node dies and returns, again and again.
func TestUnstableTopRank(t *testing.T) {
	for target, bounces := range map[string]bool{
		"bully": true, "bully-quorum": true, "next-in-line": true,
		"candidate-ordinary": false, "ring": false, "ring-max": false, "heartbeat-only": false, "leader-lease": false,
	} {
		t.Run(target, func(t *testing.T) {
			for seed := uint64(1); seed <= 5; seed++ {
				w := newWorld(t, target, 5, seed, nil)
				w.settle()
				w.become("n5", history.Down)
				other := w.settle()
				w.led = nil
				for range 5 {
					w.become("n5", history.Up)
					w.run(w.bounds.Elect)
					w.become("n5", history.Down)
					w.run(w.bounds.Elect)
				}
				require.Equal(t, other, w.settle())
				if !bounces {
					require.Empty(t, w.led, "seed %d", seed)
					continue
				}
				var leaders []string
				for _, v := range w.led {
					leaders = append(leaders, v.Leader)
				}
				both := []string{"n5", other}
				require.Equal(t, slices.Repeat(both, 5), leaders, "seed %d", seed)
			}
		})
	}
}

// A leader that was cut off returns to another. Who has numbers, or ids, tells which of them is to go; who has not,
// obeys both.
func TestStaleLeader(t *testing.T) {
	for target, stays := range map[string]bool{"blazingmq-naive": true, "random-backoff": true, "heartbeat-only": false} {
		found := false
		for seed := uint64(1); seed <= 10; seed++ {
			w := newWorld(t, target, 5, seed, nil)
			w.run(w.bounds.Elect)
			if !w.settled() {
				continue
			}
			old := w.leaders()[0]
			w.split(true, old)
			w.run(w.bounds.Elect)
			two := w.leaders()
			w.split(false, old)
			if w.run(10 * w.bounds.Elect); stays {
				found = found || len(two) == 2
				require.Equal(t, two, w.leaders(), "%s, seed %d", target, seed)
			} else {
				found = true
				w.settle()
			}
		}
		require.True(t, found, target)
	}
}

// Every part of a cluster in pieces has a leader; whole again, it has one.
func TestInvitationHasALeaderInEveryPart(t *testing.T) {
	for seed := uint64(1); seed <= 10; seed++ {
		w := newWorld(t, "invitation", 7, seed, nil)
		w.settle()
		parts := [][]string{{"n1", "n2", "n3", "n4"}, {"n5", "n6"}, {"n7"}}
		for _, p := range parts {
			w.split(true, p...)
		}
		w.run(w.bounds.Elect)
		for _, p := range parts {
			leader := w.views[p[0]].Leader
			require.Contains(t, p, leader, "seed %d", seed)
			for _, n := range p {
				require.Equal(t, leader, w.views[n].Leader, "seed %d: %v", seed, w.views)
			}
		}
		require.Len(t, w.leaders(), 3)
		for _, p := range parts {
			w.split(false, p...)
		}
		require.Contains(t, parts[0], w.settle(), "the larger group's leader stays")
	}
}

// Two leaders are asked to hand over while they cannot reach each other. Joined again, one of them leads both.
func TestInvitationAfterTwoResignedApart(t *testing.T) {
	for seed := uint64(1); seed <= 10; seed++ {
		w := newWorld(t, "invitation", 2, seed, nil)
		w.settle()
		w.split(true, "n1")
		w.run(w.bounds.Elect)
		require.Len(t, w.leaders(), 2)
		for _, n := range w.leaders() {
			w.nodes[n].(election.Resigner).Resign()
		}
		w.split(false, "n1")
		w.settle()
	}
}

// A holder whose lease has run out on everybody else's clocks: only its own keeps it from going on.
func TestLeaseByAWrongClock(t *testing.T) {
	for _, c := range []struct {
		clock string
		err   history.Clock
		two   bool
	}{
		{"monotonic", history.Clock{}, false},
		{"monotonic", history.Clock{Offset: -time.Hour}, false},
		{"monotonic", history.Clock{Drift: -0.05}, false},
		{"monotonic", history.Clock{Drift: -0.8}, true},
		{"wall", history.Clock{}, false},
		{"wall", history.Clock{Offset: time.Hour}, false},
		{"wall", history.Clock{Offset: -time.Hour}, true},
	} {
		t.Run(fmt.Sprint(c.clock, c.err), func(t *testing.T) {
			for seed := uint64(1); seed <= 10; seed++ {
				w := newWorld(t, "leader-lease", 5, seed, map[string]string{"clock": c.clock})
				holder := w.settle()
				w.run(w.bounds.Elect)
				w.split(true, holder)
				c.err.Node = holder
				w.apply(history.Changes{Clocks: []history.Clock{c.err}})
				two := false
				for range 3000 {
					w.run(time.Millisecond)
					two = two || len(w.leaders()) > 1
				}
				require.Equal(t, c.two, two, "seed %d", seed)
			}
		})
	}
}

// A leader that gives up on purpose is followed sooner than one that falls silent, and not by itself.
func TestHandOver(t *testing.T) {
	cannotResign := map[string]bool{
		"highest-address": true, "blazingmq-naive": true, "blazingmq-term": true, "blazingmq-scouting": true,
	}
	for _, target := range targets.All() {
		if target.Node == nil || cannotResign[target.Name] {
			continue
		}
		t.Run(target.Name, func(t *testing.T) {
			for seed := uint64(1); seed <= 10; seed++ {
				w := newWorld(t, target.Name, 5, seed, nil)
				w.run(w.bounds.Elect)
				if bySheerLuck[target.Name] && len(w.leaders()) > 1 {
					continue
				}
				old := w.leaders()[0]
				r := w.nodes[old].(election.Resigner)
				w.run(w.bounds.Elect)
				began := w.Now()
				r.Resign()
				for !w.settled() || w.leaders()[0] == old {
					w.run(time.Millisecond)
					if bySheerLuck[target.Name] && len(w.leaders()) > 1 {
						break
					}
					require.Less(t, w.Now()-began, w.bounds.Silence, "seed %d: %v", seed, w.views)
				}
			}
		})
	}
}

// A leader of a ring resigns while it still waits, had it not won, to begin the election again: it leaves the next one to others.
func TestRingResignsRightAfterItsElection(t *testing.T) {
	for _, target := range []string{"ring", "ring-max"} {
		for after := time.Duration(0); after < 250*time.Millisecond; after += 5 * time.Millisecond {
			w := newWorld(t, target, 5, 1, nil)
			old := w.settle()
			w.run(after)
			w.nodes[old].(election.Resigner).Resign()
			w.run(w.bounds.Elect)
			require.NotEqual(t, []string{old}, w.leaders(), "%s, after %v", target, after)
		}
	}
}
