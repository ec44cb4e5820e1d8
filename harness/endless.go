package harness

import (
	"slices"
	"time"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
)

// NoProgress is the property that a simulated run breaks whose nodes work without end: such a run is cut short, and nothing else
// is known of it. It is judged of no other run.
const NoProgress = "no-progress"

// mostWork is how many events a simulated run may have, and messages that are sent: some twenty times what the busiest election
// has with clients at work.
func (s *subject) mostWork() uint64 {
	n := float64(s.Nodes)
	span := s.Time + s.bounds.Elect + 4*s.bounds.Silence + 10*time.Second
	return uint64(span.Seconds()*(20_000+1_000*n*n)) + uint64(100*float64(s.expected()))
}

// noProgress is the verdict on a run that was cut short because its nodes worked without end; nil of any other.
func noProgress(h *history.Frame) *record.Verdict {
	if h == nil {
		return nil
	}
	for i := len(h.Ops) - 1; i >= 0 && i > len(h.Ops)-20; i-- {
		if op := &h.Ops[i]; op.F == history.Endless {
			return &record.Verdict{Promised: !duplicates(h), Result: checkers.Result{
				Property: NoProgress, Verdict: checkers.Invalid, Why: op.Error, Ops: []int{op.Index}, From: op.Time, To: op.Time,
			}}
		}
	}
	return nil
}

// duplicates reports whether the network had packets arrive twice: then messages that beget messages may beget ever more of them,
// and nodes are not to blame for it.
func duplicates(h *history.Frame) bool {
	return slices.ContainsFunc(h.Ops, func(op history.Op) bool {
		return op.Fault != nil && slices.ContainsFunc(op.Fault.Links, func(l history.Link) bool { return l.Duplicate > 0 })
	})
}
