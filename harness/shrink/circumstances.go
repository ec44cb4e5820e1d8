package shrink

import (
	"maps"
	"slices"
	"time"

	"recount/harness/record"
	"recount/history"
)

// Circumstances tells by time which faults had to do with a violation: those under way in it, or else the one that came
// last before. whole is whether the cluster was in good health again when the violation was complete, and no fault under
// way that would have moved on.
func Circumstances(h *history.Frame, v *record.Verdict) (under []string, whole bool) {
	names := map[string]bool{}
	open := map[int]string{}
	last, moving := "", false
	links, procs, clocks, disks := map[history.Link]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	more := map[history.Key]bool{} // parts, processors and memory
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Process != history.Nemesis || op.Type != history.OK || op.Fault == nil {
			continue
		}
		f := op.Fault
		if op.Time > v.To {
			moving = moving || op.F == history.Change && open[f.ID] != "" && breaks(f.Changes)
			continue
		}
		for _, l := range f.Links {
			mark(links, healthy(l), l != healthy(l))
		}
		for _, p := range f.Procs {
			mark(procs, p.Node, p.State != history.Up)
		}
		for _, k := range f.Clocks {
			mark(clocks, k.Node, k != history.Clock{Node: k.Node})
		}
		for _, d := range f.Disks {
			mark(disks, d.Node, d.DiskState != history.DiskState{})
		}
		for _, p := range f.Parts() {
			mark(more, p.Key(), p.State != history.Up)
		}
		for _, p := range f.CPUs() {
			mark(more, p.Key(), p.Share > 0)
		}
		for _, m := range f.Memories() {
			mark(more, m.Key(), m.Fails())
		}
		last = f.Name
		if op.F == history.Heal {
			delete(open, f.ID)
		} else {
			open[f.ID] = f.Name
		}
		if op.Time >= v.From {
			names[f.Name] = true
		}
	}
	for _, name := range open {
		names[name] = true
	}
	if len(names) == 0 && last != "" {
		names[last] = true
	}
	return slices.Sorted(maps.Keys(names)), len(links)+len(procs)+len(clocks)+len(disks)+len(more) == 0 && !moving
}

func healthy(l history.Link) history.Link {
	l.LinkState = history.LinkState{}
	return l
}

// breaks reports whether a change leaves anything in ill health.
func breaks(c history.Changes) bool {
	return slices.ContainsFunc(c.Links, func(l history.Link) bool { return l != healthy(l) }) ||
		slices.ContainsFunc(c.Procs, func(p history.Proc) bool { return p.State != history.Up }) ||
		slices.ContainsFunc(c.Clocks, func(k history.Clock) bool { return k != history.Clock{Node: k.Node} }) ||
		slices.ContainsFunc(c.Disks, func(d history.Disk) bool { return d.DiskState != history.DiskState{} }) ||
		slices.ContainsFunc(c.Parts(), func(p history.Part) bool { return p.State != history.Up }) ||
		slices.ContainsFunc(c.CPUs(), func(p history.CPU) bool { return p.Share > 0 }) ||
		slices.ContainsFunc(c.Memories(), history.Memory.Fails)
}

// mark keeps in m what is ill.
func mark[K comparable](m map[K]bool, at K, ill bool) {
	if ill {
		m[at] = true
	} else {
		delete(m, at)
	}
}

// settledAt is when schedules began to count.
func settledAt(h *history.Frame) time.Duration {
	for i := range h.Ops {
		if h.Ops[i].F == history.Settle {
			return h.Ops[i].Time
		}
	}
	return 0
}
