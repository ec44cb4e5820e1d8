package hunt

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
)

// bereave has nodes die that somebody depends on, and stay dead: who is waited for once an election or a hand-over has begun, who
// has just been heard, or who belongs to the majority that has voted. Nothing else happens from then on: whoever starts again,
// or is asked once more, wakes those who wait in vain.
func (h *hunter) bereave(p *record.Plan, rnd *rand.Rand) (s nemesis.Schedule) {
	times := h.silences(p, rnd)
	left := (p.Nodes - 1) / 2 // whom the others can do without
	if rnd.IntN(4) == 0 {
		left = p.Nodes - 2 // as far as they need no majority
	}
	begins := times(1, 2, 3, 5)
	if h.Time == 0 { // who waits shows when the others have had long enough
		b := h.bounds(p)
		p.Time = max(p.Time, (begins + 2*b.Silence + b.Elect*7/4).Round(time.Second))
	}
	add := func(st nemesis.Step) { s = append(s, st) }
	for range 1 + rnd.IntN(max(left-1, 1)) {
		if rnd.IntN(2) == 0 && h.draws("crash-within") {
			add(h.deathWithin(p, begins, rnd)) // before anything has begun
			left--
		}
	}
	switch n := rnd.IntN(5); {
	case n == 0 && h.draws("hand-over"):
		if rnd.IntN(2) == 0 && left > 0 { // whoever is to follow is dead, and the leader has not missed it yet
			add(nemesis.Step{At: begins, Fault: "kill", Nodes: nemesis.Named{pick([]string{"follower", "minority"}, rnd)}})
			left = 0
		}
		add(nemesis.Step{At: begins + times(0, 0.02, 0.1, 0.3), Fault: "hand-over", Nodes: nemesis.Named{"leader"}, For: times(1, 3)})
	case n == 1 && h.draws("isolate"):
		add(nemesis.Step{At: begins, Fault: "isolate", Nodes: nemesis.Named{"leader"}, For: times(1.1, 2, 3, 5)})
	default:
		add(nemesis.Step{At: begins, Fault: "kill", Nodes: nemesis.Named{"leader"}})
		left--
	}
	for ; left > 0 && (len(s) == 1 || rnd.IntN(2) == 0); left-- {
		add(h.death(p, begins, rnd))
	}
	return slices.DeleteFunc(s, func(st nemesis.Step) bool { return st.At+st.Wait >= p.Time })
}

// death kills somebody for good: soon after what has begun, or after a vote or an election that follows from it.
func (h *hunter) death(p *record.Plan, begun time.Duration, rnd *rand.Rand) nemesis.Step {
	soon := h.silences(p, rnd)(moments...)
	st := nemesis.Step{At: begun + soon, Fault: "kill", Nodes: nemesis.Named{pick([]string{"follower", "follower", "one", "minority"}, rnd)}}
	if rnd.IntN(2) == 0 {
		return st
	}
	st.At, st.Wait = begun, soon
	if st.After = pick([]nemesis.Cue{nemesis.Voted, nemesis.Voted, nemesis.Elected, nemesis.LeaderChanged}, rnd); st.After == nemesis.Voted && h.target.System != nil {
		st.After = nemesis.Elected // servers tell of no votes
	}
	heard := []string{"leader", "follower"}
	if st.After == nemesis.Voted {
		heard = []string{"voter", "candidate"}
	}
	st.Nodes = nemesis.Named{pick(heard, rnd)}
	return st
}

// deathWithin has somebody die for good in the middle of what it does from then on.
func (h *hunter) deathWithin(p *record.Plan, at time.Duration, rnd *rand.Rand) nemesis.Step {
	kind := "any"
	if len(h.kinds) > 0 {
		kind = cmp.Or(h.focus, pick(h.kinds, rnd))
	}
	return nemesis.Step{At: at, Fault: "crash-within", Nodes: nemesis.Named{pick([]string{"follower", "one", "minority"}, rnd)}, With: map[string]string{
		"on":   pick([]string{string(history.Receives), string(history.Sends)}, rnd),
		"kind": kind, "nth": strconv.Itoa(1 + rnd.IntN(2)), "effects": strconv.Itoa(rnd.IntN(4)),
		"machine": strconv.FormatBool(rnd.IntN(2) == 0), "down": p.Time.String(),
	}}
}
