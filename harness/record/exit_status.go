package record

import (
	"strings"

	"recount/checkers"
	"recount/history"
)

// Exit statuses. The first three are verdicts about the target, the others are about Recount and who calls it.
const (
	StatusHeld    = 0   // every promise held, or what the scenario expects happened
	StatusBroken  = 1   // a promise broke, or what may have been one, or what the scenario expects did not happen
	StatusUnknown = 2   // no evidence: nothing seen, a checker out of time, a fault that did not take effect
	StatusUsage   = 254 // the command line or a file is wrong
	StatusFailed  = 255 // the harness or the engine failed
)

// Standing is what a judged run amounts to.
type Standing struct {
	Status int `json:"status"` // what the command exits with
	// Flaw is why nothing that held in the run is worth anything, and Detail is what was seen of it. A violation is one in a
	// flawed run as well.
	Flaw   Flaw   `json:"-"`
	Detail string `json:"-"`
}

// Flaw is what makes a whole run decide nothing.
type Flaw uint8

// The flaws.
const (
	Flawless  Flaw = iota
	CutShort       // the history has no end
	Differs        // the cluster was not what the nemesis believed it to be: nobody knows what was tested
	NotFaulty      // no fault was seen to take effect
	NotAll         // not every fault of a written schedule was
	Another        // it was to be the recorded run once more, and is not
)

// Stand works out what the run amounts to, from its plan, its history and its verdicts.
//
// A promise that the run did not put to the test decides nothing either way, unless none was. That no node ended by itself, or raised
// an alarm, is no test of an election: where nothing else of what was promised was tested, it decides nothing either. Nor was a promise that faults have
// lifted, of which nobody can tell whether it held.
func (r *Run) Stand() {
	r.Standing = Standing{Status: StatusUnknown}
	r.Flaw, r.Detail = flaw(r.Frame(), &r.Plan)
	decided, open := false, false
	ran, untested := false, false
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		m := v.Meaning()
		if m.Fails() || m == Refuted && len(r.Plan.Require) == 0 { // what is required is known, whatever else was promised
			r.Status = StatusBroken
			return
		}
		open = open || m.Open()
		untested = untested || m == Untested || v.Verdict == checkers.Unknown && v.lifted()
		if m == Held && !checkers.OfElection(v.Property) {
			ran = true
			continue
		}
		decided = decided || m.Decides()
	}
	if (decided || ran && !untested) && !open && r.Flaw == Flawless {
		r.Status = StatusHeld
	}
}

// lifted reports whether faults took away what a promise of the property rests on.
func (v *Verdict) lifted() bool { return v.Excused && v.While != "" && v.Meaning() == Aside }

// Require makes the verdict on a property count as one on a promise that must hold, and be seen to, whatever the target
// promises and the scenario expects.
func (r *Run) Require(property string) {
	if v := r.Verdict(property); v != nil {
		v.Promised, v.While, v.Excused, v.Unclear, v.Untested, v.Expect = true, "", false, false, false, checkers.Unknown
	}
	r.Stand()
}

// flaw returns what makes a run of that plan decide nothing, if anything does.
func flaw(h *history.Frame, p *Plan) (f Flaw, detail string) {
	if !h.Complete() {
		return CutShort, ""
	}
	asked, took, idle := 0, 0, 0
	did := map[int]bool{} // by their numbers
	for i := range h.Ops {
		switch op := &h.Ops[i]; {
		case op.F == history.Compare && op.Type != history.OK:
			return Differs, op.Error
		case op.F == history.Inject && op.Type != history.Invoke:
			asked++
			if op.Type == history.OK {
				took++
				did[numberOf(op.Fault)] = true
			} else if detail == "" && op.Error != "" {
				detail = of(op.Fault, op.Error)
			}
		case op.F == history.Heal && op.Fault != nil && op.Fault.Idle != "": // it was injected, and has done nothing
			if did[op.Fault.ID] {
				idle++
				delete(did, op.Fault.ID)
			}
			if detail == "" {
				detail = of(op.Fault, op.Fault.Idle)
			}
		}
	}
	drawn, written := len(p.Faults) > 0, len(p.Schedule) > 0
	switch all := asked == took && idle == 0; {
	case all && (!drawn || took > 0):
		return Flawless, ""
	case took == idle:
		return NotFaulty, detail
	case written && !drawn && (asked != took || p.Written()): // of what a hunt draws some may wait for what never comes
		return NotAll, detail
	}
	return Flawless, "" // of what was drawn, or came without its plan, one that took effect is enough
}

func numberOf(f *history.Fault) int {
	if f == nil {
		return 0
	}
	return f.ID
}

// of says of which fault it is that something is told.
func of(f *history.Fault, what string) string {
	if f == nil {
		return what
	}
	return strings.Join(append([]string{f.Name}, f.Asked...), " ") + ": " + what
}
