package hunt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
)

// With real servers it is elections that a run is worth, and computing that it costs: an idle second costs as much as one under faults, and
// what messages mean nobody knows. So these plans have one election after the other, each among what the last has left behind, on links and disks slow enough for candidates to meet, and end with the last of them.

// turmoil has leaders lost again and again, and returns nothing if there is no fault for it.
func (h *hunter) turmoil(p *record.Plan, rnd *rand.Rand) (s nemesis.Schedule) {
	switch n := rnd.IntN(6); {
	case n < 2 && p.Nodes > 2 && h.draws("bridge"):
		if s = h.arbiter(p, false, rnd); len(s) > 0 {
			return h.until(p, s, rnd)
		}
	case n == 3 && p.Nodes > 2 && h.draws("bridge", "crash-within", "hold-message"):
		return h.until(p, h.arbiter(p, true, rnd), rnd)
	case n == 2 && h.draws("delay"):
		if s = h.echo(p, rnd); len(s) > 0 {
			return h.until(p, s, rnd)
		}
	}
	losses, times := h.of(rnd, losses...), h.silences(p, rnd)
	if len(losses) == 0 {
		return nil
	}
	s = h.surroundings(p, rnd)
	at := times(0.1, 0.3, 0.5, 1)
	if rnd.IntN(3) == 0 && h.draws("pause") {
		together := h.together(p, at, losses, rnd)
		s = append(s, together...)
		at = together.End() + times(0, 0.1, 0.3, 1)
	}
	pace := pick(paces, rnd)
	for range 3 + rnd.IntN(pace.most) {
		st := h.loss(pick(losses, rnd), p, at, times(pace.lasts...), rnd)
		aimAnew(&st, rnd)
		s = append(s, st)
		at += times(pace.gaps...)
	}
	return h.until(p, s, rnd)
}

// until ends the run soon after the last fault, or when it has lasted as long as others may, and has last until then what is to last. It
// also draws what losses of power leave.
func (h *hunter) until(p *record.Plan, s nemesis.Schedule, rnd *rand.Rand) nemesis.Schedule {
	if h.Time == 0 {
		p.Time = (s.End() + h.silences(p, rnd)(1.5, 2, 3)).Round(time.Millisecond)
		p.Time = min(p.Time, max(longest, record.RoomFor(1, h.bounds(p).Silence)))
	}
	for i := range s {
		if s[i].For == 0 || s[i].At+s[i].For > p.Time {
			s[i].For = p.Time - s[i].At
		}
		if s[i].Fault == "lose-writes" {
			h.leave(&s[i], rnd)
		}
	}
	return slices.DeleteFunc(s, func(st nemesis.Step) bool { return st.For <= 0 })
}

// arbiter has two halves of the cluster hear nothing of each other, and one node between them that is away for so long that both campaign,
// is asked by both when it is back, and soon ends or stands still once more, or ends in the middle of an answer: what it has said to the
// one half it may not know, or not yet, when the other asks. What it says may reach one node late.
func (h *hunter) arbiter(p *record.Plan, traps bool, rnd *rand.Rand) (s nemesis.Schedule) {
	names := []string{"kill", "kill", "lose-writes", "crash", "pause"}
	if traps {
		names = append(names, "crash-within", "crash-within")
	}
	ends := h.of(rnd, names...)
	if len(ends) == 0 {
		return nil
	}
	times := h.silences(p, rnd)
	places := rnd.Perm(p.Nodes)
	node, other := fmt.Sprintf("n%d", places[0]+1), fmt.Sprintf("n%d", places[1]+1)
	at := times(0.1, 0.5, 1)
	s = nemesis.Schedule{{At: at, Fault: "bridge", Nodes: nemesis.Named{node}}}
	if h.draws("delay") && rnd.IntN(2) == 0 {
		by := h.share(p, 0.05, 2, rnd)
		s = append(s, nemesis.Step{At: at, Fault: "delay", Nodes: nemesis.Named{node, pick([]string{other, other, "others"}, rnd)}, With: map[string]string{
			"delay": by.String(), "jitter": pick([]time.Duration{0, by / 4}, rnd).String(), "way": pick([]string{"both", "there", "there", "back"}, rnd),
		}})
	}
	if h.draws("disk-slow") && rnd.IntN(3) == 0 {
		s = append(s, nemesis.Step{At: at, Fault: "disk-slow", Nodes: nemesis.Named{node}, With: map[string]string{"by": h.share(p, 0.01, 0.5, rnd).String()}})
	}
	end := func(lasts time.Duration) {
		st := h.loss(pick(ends, rnd), p, at, lasts, rnd)
		st.Nodes = nemesis.Named{node}
		s = append(s, st)
		at += st.For
		if traps && rnd.IntN(3) == 0 { // what the node says when it is back one of them hears late
			st := h.blind("hold-message", p, rnd)
			st.At, st.Nodes, st.For = at, nemesis.Named{node, pick([]string{other, "others"}, rnd)}, times(1, 2, 3)
			s = append(s, st)
		}
	}
	for range 2 + rnd.IntN(3) {
		end(times(0.2, 0.5, 0.8, 1.1, 1.3, 1.6))
		for range rnd.IntN(3) {
			at += times(0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1)
			end(times(0, 0.01, 0.02, 0.05, 0.1))
		}
		at += times(0.2, 0.5, 1, 1.5)
	}
	return s
}

// echo has what others say reach the leader late, and then the leader heard no more: for a while it still gets answers to what it said
// before, when others no longer wait for it.
func (h *hunter) echo(p *record.Plan, rnd *rand.Rand) (s nemesis.Schedule) {
	cuts := h.of(rnd, "receive-only", "cut-one-way")
	if len(cuts) == 0 {
		return nil
	}
	times := h.silences(p, rnd)
	at := times(0.1, 0.5, 1)
	for range 1 + rnd.IntN(2) {
		by, lasts := h.share(p, 0.1, 1, rnd), times(0.9, 1.1, 1.6, 2.2)
		then := at + by + times(0.3, 1, 2)
		s = append(s, nemesis.Step{At: at, Fault: "delay", Nodes: nemesis.Named{"leader", "others"}, For: then + lasts - at, With: map[string]string{
			"delay": by.String(), "jitter": "0s", "way": "back",
		}})
		st := nemesis.Step{At: then, Fault: pick(cuts, rnd), Nodes: nemesis.Named{"leader"}, For: lasts}
		if st.Fault == "cut-one-way" {
			st.Nodes = append(st.Nodes, "others")
		}
		s = append(s, st)
		at = then + lasts + times(0.5, 1)
	}
	return s
}

// losses are what takes a leader away from its followers, or them from it.
var losses = []string{
	"kill", "kill", "lose-writes", "crash", "pause", "pause", "isolate", "isolate", "cut-one-way", "cut-link", "send-only", "receive-only",
	"leader-with-minority", "crash-within",
}

// paces are how soon losses follow each other and how long each lasts, in silences of the target: as the one or the other of those who
// are left is elected, and in the middle of an election.
var paces = []struct {
	most        int
	gaps, lasts []float64
}{
	{5, []float64{0, 0.1, 0.5, 0.8, 1, 1.2, 1.5, 2}, []float64{0, 0.05, 0.1, 0.2, 0.4, 0.7, 0.9, 1.1, 1.3, 1.6, 2.2}},
	{5, []float64{0.9, 1, 1.2, 1.5, 2}, []float64{0.3, 0.5, 0.8, 0.9, 1.1, 1.3, 1.6}},
	{9, []float64{0, 0.05, 0.1, 0.2, 0.3, 0.5}, []float64{0, 0.02, 0.05, 0.1, 0.2, 0.4, 1.1}},
}

// loss is a step that takes a leader away. What waits for something to happen gets the time that this takes.
func (h *hunter) loss(fault string, p *record.Plan, at, lasts time.Duration, rnd *rand.Rand) nemesis.Step {
	st := nemesis.Step{Fault: fault}
	if lasts = max(lasts, time.Millisecond); fault == "crash-within" {
		st, lasts = h.blind(fault, p, rnd), max(lasts, h.silences(p, rnd)(0.5, 1, 2))
	}
	st.At, st.For = at, lasts
	return st
}

// leave draws what a loss of power leaves of what was not synced: nothing, or what a disk may have. What an algorithm of Recount's own
// writes is there or not.
func (h *hunter) leave(st *nemesis.Step, rnd *rand.Rand) {
	if h.On == record.OnSim {
		return
	}
	if how := pick([]string{"", "torn", "scattered"}, rnd); how != "" {
		set(st, how, "true")
	}
}

// blind draws a fault that is aimed at what happens, of messages whose meaning nobody knows.
func (h *hunter) blind(fault string, p *record.Plan, rnd *rand.Rand) nemesis.Step {
	times := h.silences(p, rnd)
	st := nemesis.Step{Fault: fault, With: map[string]string{"kind": "any", "nth": strconv.Itoa(1 + rnd.IntN(3)*rnd.IntN(4))}}
	if fault == "hold-message" {
		st.With["count"] = pick([]string{"1", "1", "2", "3"}, rnd)
		st.With["until"] = pick([]string{
			history.UntilTerm, history.UntilLead, history.UntilStart, times(0.1, 0.3, 0.5).String(), times(0.8, 1.1, 1.6, 2.5, 4).String(),
		}, rnd)
		return st
	}
	st.With["on"] = pick([]string{string(history.Receives), string(history.Receives), string(history.Sends)}, rnd)
	st.With["effects"], st.With["count"] = strconv.Itoa(rnd.IntN(8)), strconv.Itoa(1+rnd.IntN(4))
	st.With["machine"], st.With["down"] = strconv.FormatBool(rnd.IntN(2) == 0), times(0, 0.01, 0.05, 0.1, 0.3, 0.8).String()
	return st
}

// of returns which of these faults the hunt draws, or a part of them: see swarm.
func (h *hunter) of(rnd *rand.Rand, names ...string) (some []string) {
	all := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !h.draws(name) })
	for _, name := range all {
		if rnd.IntN(2) == 0 {
			some = append(some, name)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// aimAnew aims a loss, most often at whoever leads.
func aimAnew(st *nemesis.Step, rnd *rand.Rand) {
	st.Nodes = nemesis.Named{pick([]string{"leader", "leader", "leader", "old-leader", "follower", "one", "minority", "majority", "all"}, rnd)}
	switch st.Fault {
	case "cut-link", "cut-one-way":
		st.Nodes = pick([]nemesis.Named{{"leader", "one"}, {"follower", "leader"}, {"one", "one"}, {"leader", "others"}, {"others", "leader"}}, rnd)
	case "leader-with-minority":
		st.Nodes = nemesis.Named{"leader"}
	case "isolate", "send-only", "receive-only":
		st.Nodes = nemesis.Named{pick([]string{"leader", "leader", "leader", "old-leader", "follower", "one"}, rnd)}
	}
}

// surroundings are what elections are held in: links of which each takes its own time, or carry nothing, and slow disks.
func (h *hunter) surroundings(p *record.Plan, rnd *rand.Rand) (s nemesis.Schedule) {
	if h.draws("delay") && rnd.IntN(2) == 0 {
		by := h.share(p, 0.01, 0.3, rnd)
		s = append(s, nemesis.Step{Fault: "delay", Nodes: nemesis.Named{"all", "all"}, With: map[string]string{
			"delay": by.String(), "jitter": pick([]time.Duration{0, by / 4, by}, rnd).String(),
		}})
	}
	names := h.of(rnd, "delay", "delay", "delay", "disk-slow", "cut-link", "cut-one-way", "loss", "throttle", "hold-message")
	for range rnd.IntN(3) {
		if len(names) == 0 {
			break
		}
		st := nemesis.Step{Fault: pick(names, rnd), With: map[string]string{}}
		switch st.Fault {
		case "delay":
			by := h.share(p, 0.1, 2, rnd)
			st.Nodes = pick([]nemesis.Named{{"one", "one"}, {"one", "one"}, {"leader", "others"}, {"one", "others"}}, rnd)
			st.With["delay"], st.With["jitter"] = by.String(), pick([]time.Duration{0, by / 4, by}, rnd).String()
			st.With["way"] = pick([]string{"both", "there", "back"}, rnd)
		case "disk-slow":
			st.Nodes = nemesis.Named{pick([]string{"all", "all", "one", "leader"}, rnd)}
			st.With["by"] = h.share(p, 0.01, 0.5, rnd).String()
		case "throttle":
			st.Nodes = nemesis.Named{pick([]string{"one", "leader"}, rnd)}
		case "hold-message":
			st = h.blind(st.Fault, p, rnd)
			st.Nodes = pick([]nemesis.Named{{"follower", "leader"}, {"one", "one"}, {"all", "all"}}, rnd)
		default:
			st.Nodes = nemesis.Named{"one", pick([]string{"one", "one", "others"}, rnd)}
		}
		s = append(s, st)
	}
	return s
}

// share draws a part of a silence, small ones as often as large ones.
func (h *hunter) share(p *record.Plan, from, to float64, rnd *rand.Rand) time.Duration {
	d := time.Duration(float64(h.bounds(p).Silence) * from * math.Exp(rnd.Float64()*math.Log(to/from)))
	return max(d.Round(time.Millisecond), time.Millisecond)
}

// together has nodes stand still until all that they wait for is overdue, so that they campaign at one instant; those who are to elect
// them may have just begun again.
func (h *hunter) together(p *record.Plan, at time.Duration, losses []string, rnd *rand.Rand) nemesis.Schedule {
	times := h.silences(p, rnd)
	lasts := times(1.05, 1.2, 1.6)
	s := nemesis.Schedule{{At: at, Fault: "pause", Nodes: nemesis.Named{pick([]string{"all", "majority", "minority", "follower"}, rnd)}, For: lasts}}
	if s[0].Nodes[0] == "follower" {
		s = append(s, s[0])
	}
	for range rnd.IntN(3) {
		begins := lasts * time.Duration(rnd.IntN(10)) / 10
		st := nemesis.Step{At: at + begins, Fault: pick(losses, rnd), For: max((lasts-begins)*time.Duration(1+rnd.IntN(12))/10, time.Millisecond)}
		aimAnew(&st, rnd)
		s = append(s, st)
	}
	return s
}
