package nemesis

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// Checkers blame nobody for a picked link, and for no other: traps and links must be of the same nodes.
func TestTrapsAreOfTheLinksThatAreMarked(t *testing.T) {
	for _, receivers := range []string{"others", "n2,n3", "n4"} {
		s := newScene(t, 4)
		s.n.Start(Schedule{
			{Fault: "kill", Nodes: []string{"n3"}, For: 100 * time.Millisecond},
			{At: 50 * time.Millisecond, Fault: "lose-message", Nodes: []string{"leader", receivers}},
		})
		s.run(time.Second)
		state := s.c.State()
		var marked, trapped []string
		for _, l := range state.Links {
			require.True(t, l.Picked)
			marked = append(marked, l.To)
		}
		for _, t := range state.Traps() {
			trapped = append(trapped, t.Receivers()...)
		}
		require.NotEmpty(t, marked)
		require.Equal(t, marked, trapped, receivers)
		require.Empty(t, state.Procs, "n3 is back")
		s.heal()
	}
}

// A trap may spring when a run is repeated that had not sprung before: the recording then has nothing that undoes it.
func TestARepeatedTrapThatSpringsAnewLeavesNothing(t *testing.T) {
	first := newScene(t, 3)
	first.settled()
	first.n.Start(Schedule{{Fault: "crash-within", Nodes: []string{"n2"}, For: time.Second}})
	first.run(2 * time.Second)

	second := newScene(t, 3)
	second.c.OnSprung(second.n.Sprung)
	second.settled()
	second.n.Repeat(again(first))
	second.run(500 * time.Millisecond)
	down := history.Changes{Procs: []history.Proc{{Node: "n2", State: history.Crashed}}}
	second.c.Apply(down, func(history.Effect) {})
	second.n.Sprung(1, "n2 ends", down)
	second.run(100 * time.Millisecond)
	require.Equal(t, down.Procs, second.n.Holds().Procs)
	second.run(time.Second)
	require.True(t, second.n.Holds().Empty())
	require.True(t, second.c.State().Empty())
	second.heal()
}

// What a trap has ended is told at once: until the nemesis comes to it, checkers would take the node for one that runs.
func TestATrapThatSpringsWhileTheNemesisIsBusyIsToldAtOnce(t *testing.T) {
	down := history.Changes{Procs: []history.Proc{{Node: "n2", State: history.Crashed}}}
	told := func(s *scene) (lines []string) {
		h, err := s.r.History()
		require.NoError(t, err)
		for _, op := range h.Ops {
			if op.Fault != nil && op.Type != history.Invoke {
				lines = append(lines, fmt.Sprint(op.Process, " ", op.F, " ", op.Node, op.Fault.ID, op.Fault.Name, op.Fault.Procs))
			}
		}
		return lines
	}
	busy := func() *scene {
		s := newScene(t, 3)
		s.n.Start(Schedule{{Fault: "crash-within", Nodes: []string{"n2"}}})
		s.run(10 * time.Millisecond)
		s.n.busy = true // as while a node is asked to hand over
		s.c.Apply(down, func(history.Effect) {})
		return s
	}

	s := busy()
	s.n.Sprung(1, "n2 ends", down)
	require.Equal(t, []string{"nemesis inject 1crash-within[]", "harness exit n21crash-within[{n2 crashed}]"}, told(s))
	s.n.idle()
	require.Equal(t, "nemesis change 1crash-within[{n2 crashed}]", told(s)[2])
	s.heal()

	s = busy()
	s.n.turn(func() { s.n.heal(s.n.active[0]) })
	s.n.Sprung(1, "n2 ends", down)
	s.n.idle() // heals the fault, and then what its trap has done
	require.Equal(t, []string{
		"harness exit n21crash-within[{n2 crashed}]", "nemesis heal 1crash-within[]", "nemesis heal 1crash-within[{n2 up}]",
	}, told(s)[1:])
	require.True(t, s.c.State().Empty())
	require.True(t, s.n.Holds().Empty())
}
