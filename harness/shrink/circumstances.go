package shrink

import (
	"maps"
	"slices"

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
	var inForce history.States
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Process != history.Nemesis || op.Type != history.OK || op.Fault == nil {
			continue
		}
		f := op.Fault
		if op.Time > v.To {
			moving = moving || op.F == history.Change && open[f.ID] != "" && slices.ContainsFunc(f.States(), fails)
			continue
		}
		inForce = inForce.With(f.Changes)
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
	return slices.Sorted(maps.Keys(names)), !moving && !slices.ContainsFunc(slices.Collect(inForce.All()), fails)
}

// fails reports whether a state is not the healthy one, of what makes nodes fail: who is a member or a client's reach does not.
func fails(s history.State) bool {
	switch s.(type) {
	case history.Link, history.Proc, history.Clock, history.Disk, history.Part, history.CPU, history.Memory:
		return s != s.Healthy()
	}
	return false
}
