package hunt

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strconv"

	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
)

// Forms in which the same node is hit again. Words such as follower are looked up anew for each step, so that two faults seldom
// meet one node; here it goes by its name.

// member draws one node by its name; where there is a store, that is it half of the time.
func (h *hunter) member(p *record.Plan, rnd *rand.Rand) string {
	if h.target.Store != 0 && rnd.IntN(2) == 0 {
		return h.target.Store.String()
	}
	return fmt.Sprintf("n%d", 1+rnd.IntN(p.Nodes))
}

// within is a step that ends a node, by its name, in the middle of what follows from a message.
func (h *hunter) within(p *record.Plan, node string, nth, effects int, machine bool, rnd *rand.Rand) nemesis.Step {
	kind := "any"
	if len(h.kinds) > 0 && rnd.IntN(4) > 0 {
		kind = cmp.Or(h.focus, pick(h.kinds, rnd))
	}
	return nemesis.Step{Fault: "crash-within", Nodes: nemesis.Named{node}, With: map[string]string{
		"on": string(history.Receives), "kind": kind, "nth": strconv.Itoa(nth), "effects": strconv.Itoa(effects),
		"machine": strconv.FormatBool(machine), "down": h.silences(p, rnd)(0.02, 0.1, 0.3, 1).String(),
	}}
}

// twice has one node end two times: its process alone, between what it stores and that being synced, and when it is back its
// machine, too. What it has read and told in between may be gone then. Leaders are lost meanwhile, so that there is something to be
// stored each time.
func (h *hunter) twice(p *record.Plan, rnd *rand.Rand) (s nemesis.Schedule) {
	times := h.silences(p, rnd)
	node, at := h.member(p, rnd), times(0.5, 1, 2, 3)
	first := h.within(p, node, pick([]int{1, 1, 2}, rnd), pick([]int{1, 1, 1, 2, 3}, rnd), false, rnd)
	if h.On == record.OnSim && rnd.IntN(3) > 0 {
		first.With["on"], first.With["kind"] = string(history.Rises), "any"
	}
	then := h.within(p, node, pick([]int{1, 1, 1, 2, 3}, rnd), pick([]int{0, 0, 0, 1, 2}, rnd), true, rnd)
	if rnd.IntN(4) > 0 { // what follows from the next of the kind
		then.With["on"], then.With["kind"] = first.With["on"], first.With["kind"]
	}
	if h.draws("crash") && rnd.IntN(4) == 0 {
		then = nemesis.Step{After: nemesis.Elected, Wait: times(0, 0.02, 0.05, 0.1, 0.3), Fault: "crash", Nodes: nemesis.Named{node}, For: times(0.1, 0.3, 1, 2)}
	}
	first.At, then.At = at, at+times(0, 0, 0, 0.3, 1)
	s = nemesis.Schedule{first, then}
	losses := h.of(rnd, "kill", "isolate", "pause", "restart")
	for k := 0; k < 1+rnd.IntN(3) && len(losses) > 0; k++ {
		st := nemesis.Step{At: at, Fault: pick(losses, rnd), Nodes: nemesis.Named{"leader"}, For: times(0.3, 1, 1.5, 2, 3)}
		s = append(s, st)
		at += st.For + times(0.5, 1, 2)
	}
	return s
}

// homecoming has a node cut off for so long that there is much to be told when it is back, and end in the middle of being told.
func (h *hunter) homecoming(p *record.Plan, rnd *rand.Rand) nemesis.Schedule {
	times := h.silences(p, rnd)
	node, at := h.member(p, rnd), times(0.5, 1, 2, 3)
	away := times(2, 3, 5, 8)
	back := h.within(p, node, 1+rnd.IntN(3), rnd.IntN(4), rnd.IntN(2) == 0, rnd)
	back.At = at + away + times(-0.1, -0.05, 0, 0, 0.02)
	return nemesis.Schedule{{At: at, Fault: "isolate", Nodes: nemesis.Named{node}, For: away}, back}
}
