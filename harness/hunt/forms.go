package hunt

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
)

// Forms are schedules of several faults that tell most together. Chance seldom has the one come when the other has made what it
// meets, whatever the election.

// form gives about half of the plans a form of their own, and reports whether that is all that is to happen.
func (h *hunter) form(p *record.Plan, rnd *rand.Rand) (all bool) {
	switch n := rnd.IntN(13); {
	case n == 0 && h.draws("bridge", "kill", "crash-within"):
		p.Schedule = h.between(p, rnd)
	case n == 1 && h.draws("leader-with-minority"):
		p.Schedule, p.Workloads = h.seesaw(p, rnd), h.allWorkloads()
	case n == 2 && h.draws("delay", "receive-only"):
		p.Schedule, p.Workloads = h.past(p, rnd), h.allWorkloads()
	case n < 7:
		h.gather(p, rnd)
	case n == 7 && p.Nodes > 2 && h.draws("isolate", "kill"):
		p.Schedule, p.Workloads = h.comeback(p, rnd), h.allWorkloads("transfer") // a leader that hands over does not stay
		return true
	case n > 7 && n < 10 && p.Nodes > 2 && h.draws("kill"):
		p.Schedule, p.Workloads = h.bereave(p, rnd), h.allWorkloads("transfer") // it wakes those who wait
		return true
	case n == 12 && h.draws("crash-within"):
		if rnd.IntN(2) == 0 || !h.draws("isolate") {
			p.Schedule = h.twice(p, rnd)
		} else {
			p.Schedule, p.Workloads = h.homecoming(p, rnd), h.allWorkloads("transfer") // there is to be something to tell
		}
	}
	return false
}

// allWorkloads are all that a run may have, but for some that are not asked for, for one whose faults tell little without clients.
func (h *hunter) allWorkloads(but ...string) []string {
	more := slices.DeleteFunc(slices.Clone(h.Sometimes), func(w string) bool { return slices.Contains(but, w) })
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(h.Workloads, more))))
}

// gather has all steps come within little more than one silence: what one node remembers of another is forgotten soon after.
func (h *hunter) gather(p *record.Plan, rnd *rand.Rand) {
	silence := float64(h.bounds(p).Silence)
	for i := 1; i < len(p.Schedule); i++ {
		p.Schedule[i].At = p.Schedule[0].At + time.Duration(pick(moments, rnd)*silence).Round(time.Millisecond)
	}
}

// silences draws times: so many silences, of those given.
func (h *hunter) silences(p *record.Plan, rnd *rand.Rand) func(of ...float64) time.Duration {
	silence := float64(h.bounds(p).Silence)
	return func(of ...float64) time.Duration {
		return time.Duration(pick(of, rnd) * silence).Round(time.Millisecond)
	}
}

// between puts the leader, or the store, between two halves that reach it and not each other, has it die, so that both ask it
// anew, and end again in the middle of an answer: one half may get from it what it has forgotten when the other asks.
func (h *hunter) between(p *record.Plan, rnd *rand.Rand) nemesis.Schedule {
	node := "leader"
	if h.target.Store != 0 {
		node = h.target.Store.String()
	}
	silence := float64(h.bounds(p).Silence)
	brief := func() time.Duration {
		return max(time.Duration(pick(moments, rnd)*silence), time.Millisecond).Round(time.Millisecond)
	}
	at := h.span(p, rnd)
	end := nemesis.Step{
		At: at, Fault: "crash-within", Nodes: nemesis.Named{node}, For: p.Time - at,
		With: map[string]string{
			"on": string(history.Receives), "nth": "1", "count": strconv.Itoa(1 + rnd.IntN(4)), "effects": strconv.Itoa(rnd.IntN(4)),
			"machine": strconv.FormatBool(rnd.IntN(2) == 0), "down": min(brief(), brief()).String(),
		},
	}
	if len(h.kinds) > 0 {
		end.With["kind"] = pick(h.kinds, rnd)
	}
	return nemesis.Schedule{
		{At: at, Fault: "bridge", Nodes: nemesis.Named{node}, For: p.Time - at}, end,
		{At: at, Fault: "kill", Nodes: nemesis.Named{node}, For: brief()},
	}
}

// past has a node live in the past: what others say reaches it long after they have said it, and what it says itself soon reaches
// nobody, so that they go on without it while it still hears what they thought of it before.
func (h *hunter) past(p *record.Plan, rnd *rand.Rand) nemesis.Schedule {
	silence := float64(h.bounds(p).Silence)
	node, late := pick([]string{"leader", "leader", "leader", "one"}, rnd), time.Duration(pick([]float64{0.7, 1.5, 2, 3, 5}, rnd)*silence)
	at := h.span(p, rnd)
	then := min(at+time.Duration((0.1+float64(0.8*rnd.Float64()))*float64(late)).Round(time.Millisecond), p.Time-h.bounds(p).Silence)
	return nemesis.Schedule{
		{
			At: at, Fault: "delay", Nodes: nemesis.Named{node, "others"}, For: min(2*late+h.span(p, rnd), p.Time-at),
			With: map[string]string{"delay": late.Round(time.Millisecond).String(), "jitter": "0s", "way": "back"},
		},
		{At: then, Fault: "receive-only", Nodes: nemesis.Named{node}, For: min(late+h.span(p, rnd), p.Time-then)},
	}
}

// seesaw has whoever leads gone for about as long as the others take to elect somebody else, again and again, at first with a
// minority. What clients write meanwhile is lost, or not: nodes lead several times, and what they have kept differs. One of them may
// be away for longer, and answers of then come late to who leads once more. In the end a minority may be gone for good, so that all
// of the others count.
func (h *hunter) seesaw(p *record.Plan, rnd *rand.Rand) (s nemesis.Schedule) {
	times := h.silences(p, rnd)
	add := func(st nemesis.Step) {
		if st.For = min(st.For, p.Time-st.At); st.For > 0 && h.draws(st.Fault) {
			s = append(s, st)
		}
	}
	at, last := h.span(p, rnd), 2+rnd.IntN(3)
	for k := range last {
		st := nemesis.Step{At: at, Fault: "leader-with-minority", Nodes: nemesis.Named{"leader"}, For: times(1.5, 2, 3, 5)}
		switch {
		case k == last-1 && rnd.IntN(2) == 0:
			st.Fault, st.Nodes, st.For = "kill", nemesis.Named{"minority"}, p.Time
		case k > 0:
			st.Fault = pick([]string{st.Fault, "isolate", "isolate", "kill", "pause"}, rnd)
		case rnd.IntN(2) == 0:
			away := at + time.Duration(rnd.Float64()*float64(st.For)).Round(time.Millisecond)
			add(nemesis.Step{At: away, Fault: pick([]string{"isolate", "pause", "kill"}, rnd), Nodes: nemesis.Named{"follower"}, For: times(3, 5, 8)})
		}
		if k == 0 && len(h.kinds) > 0 && rnd.IntN(3) == 0 {
			add(nemesis.Step{At: at, Fault: "hold-message", Nodes: pick([]nemesis.Named{{"all", "all"}, {"follower", "leader"}}, rnd), For: p.Time, With: map[string]string{
				"kind": cmp.Or(h.focus, pick(h.kinds, rnd)), "nth": strconv.Itoa(1 + rnd.IntN(4)), "count": strconv.Itoa(1 + rnd.IntN(4)), "until": history.UntilElected,
			}})
		}
		add(st)
		at += st.For + times(0, 0.3, 1, 2)
	}
	return s
}

// comeback has one node lead twice, with another's leadership between; it is quicker than all others to campaign. What it did and
// heard when it led first may still count when it leads again. It ends and starts again, and in the end is cut off; or it is left with
// one companion that hears it and then is away until the other is back, and that in the end is needed for every majority. What
// others answer may arrive only when it leads again.
func (h *hunter) comeback(p *record.Plan, rnd *rand.Rand) (s nemesis.Schedule) {
	times := h.silences(p, rnd)
	add := func(at, lasts time.Duration, fault string, with map[string]string, nodes ...string) {
		if h.draws(fault) || fault == "partition" && h.draws("leader-with-minority") {
			s = append(s, nemesis.Step{At: at, Fault: fault, Nodes: nodes, For: lasts, With: with})
		}
	}
	gone := []string{"isolate", "pause", "kill"}
	at := times(1, 2, 3, 5)
	if len(h.kinds) > 0 && rnd.IntN(3) > 0 {
		add(at, p.Time, "hold-message", map[string]string{
			"kind": cmp.Or(h.focus, pick(h.kinds, rnd)), "nth": strconv.Itoa(1 + rnd.IntN(4)), "count": strconv.Itoa(1 + rnd.IntN(8)),
			"until": history.UntilElected,
		}, pick([][]string{{"all", "all"}, {"follower", "leader"}}, rnd)...)
	}
	at += times(0.1, 0.3, 1)
	accompanied := p.Nodes > 4 && rnd.IntN(3) > 0
	if accompanied {
		var names []string
		for _, k := range rnd.Perm(p.Nodes) {
			names = append(names, fmt.Sprintf("n%d", k+1))
		}
		first := times(1.5, 2, 3, 5)
		add(at, first, "partition", nil, "leader", strings.Join(names[1:], ","))
		add(at+times(0.2, 0.3, 0.5, 0.8), first+times(3, 5, 8), pick(gone, rnd), nil, names[0])
		at += first + times(0.3, 1, 2)
		add(at, times(2, 3, 5), pick(gone, rnd), nil, "leader")
		at += times(1, 2, 3)
	} else {
		add(at, max(times(moments...), time.Millisecond), "kill", nil, "leader")
		at += times(0.5, 1, 2, 3)
	}
	add(0, at, "clock-drift", map[string]string{"by": "80%"}, "leader")
	if accompanied == (rnd.IntN(4) > 0) {
		for range (p.Nodes - 1) / 2 {
			add(at, p.Time, "kill", nil, "follower")
		}
	} else {
		add(at, p.Time, "isolate", nil, "leader")
	}
	if h.Time == 0 { // what gets nowhere shows when it had long enough to
		p.Time = max(p.Time, (at + h.bounds(p).Elect*7/4).Round(time.Second))
	}
	for i := range s {
		s[i].For = min(s[i].For, p.Time-s[i].At)
	}
	return slices.DeleteFunc(s, func(st nemesis.Step) bool { return st.For <= 0 })
}
