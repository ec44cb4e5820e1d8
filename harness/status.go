package harness

import (
	"slices"

	"recount/checkers"
	"recount/history"
	"recount/report"
)

// Exit statuses. The first three are verdicts about the target, the others are about Recount and who calls it.
const (
	StatusHeld    = 0   // every promise held, or what the scenario expects happened
	StatusBroken  = 1   // a promise broke, or what the scenario expects did not happen
	StatusUnknown = 2   // no evidence: nothing seen, a checker out of time, a fault that did not take effect
	StatusUsage   = 254 // the command line or a file is wrong
	StatusFailed  = 255 // the harness or the engine failed
)

// status works out what a judged run amounts to.
//
// A promise that the run did not put to the test decides nothing either way, unless none was.
func status(r *report.Run, p Plan) int {
	tested, unknown := false, !r.History.Complete()
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		stakes := v.Promised || v.Expect != checkers.Unknown
		switch {
		case v.Expect != checkers.Unknown && v.Verdict != checkers.Unknown:
			tested = true
			if v.Verdict != v.Expect {
				return StatusBroken
			}
		case v.Promised && v.Verdict == checkers.Invalid:
			return StatusBroken
		case v.Verdict != checkers.Unknown:
			tested = tested || stakes
		case stakes && (!v.Untested || v.Expect != checkers.Unknown):
			unknown = true
		}
	}
	if unknown || !tested || !tookEffect(r.History, p) || differed(r.History) {
		return StatusUnknown
	}
	return StatusHeld
}

// differed reports whether the cluster was found not to be what the nemesis believed of it: then nobody knows what was
// tested.
func differed(h *history.History) bool {
	return slices.ContainsFunc(h.Ops, func(op history.Op) bool { return op.F == history.Compare && op.Type != history.OK })
}

// tookEffect reports whether the faults of a run did: all of a written schedule, at least one of a drawn one. Of a history
// that came without its plan, nobody knows what its faults were to be.
func tookEffect(h *history.History, p Plan) bool {
	asked, took := 0, 0
	for i := range h.Ops {
		if op := &h.Ops[i]; op.F == history.Inject && op.Type != history.Invoke {
			asked++
			if op.Type == history.OK {
				took++
			}
		}
	}
	switch {
	case len(p.Faults) > 0:
		return took > 0
	case len(p.Schedule) > 0:
		return took == asked
	}
	return asked == 0 || took > 0
}
