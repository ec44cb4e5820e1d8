package report

import (
	"fmt"
	"slices"
	"strings"

	"recount/checkers"
	"recount/harness/record"
)

// Sentence says what a run's status means, to somebody who has not read the manual.
func Sentence(r *record.Run) string {
	return strings.TrimSpace(status(r) + " " + r.Unread)
}

// Missing says which verdicts a run of status unknown lacks, or nothing if it lacks none: then it is what happened in the run that makes
// it decide nothing, and the run's history has to be read to say it. It needs the verdicts alone.
func Missing(r *record.Run) string {
	if n := tally(r.Verdicts); len(n.undecided)+len(n.missed) > 0 {
		return Sentence(r)
	}
	return ""
}

func status(r *record.Run) string {
	n := tally(r.Verdicts)
	switch r.Status {
	case record.StatusFailed:
		if r.Flaw == record.Another {
			return "It is not the recorded run, and what it shows is not what that one showed."
		}
	case record.StatusHeld:
		return strings.Join(slices.DeleteFunc([]string{n.whyHeld(), notShown(r), few(r)}, func(s string) bool { return s == "" }), " ")
	case record.StatusBroken:
		return n.whyBroken()
	case record.StatusUnknown:
		return n.whyUnknown(r)
	}
	return "The harness or the engine failed; this says nothing about the target."
}

// outcomes are the verdicts of a run by what they mean for it.
type outcomes struct {
	broken, weak, undecided, untested []string // properties
	refuted                           []string // of which nobody knows whether they were promised
	unclear                           bool     // nobody knows what was promised
	met, missed                       []string // what became of what was expected
	held                              int      // promises
}

func tally(verdicts []record.Verdict) (n outcomes) {
	for i := range verdicts {
		v := &verdicts[i]
		is := fmt.Sprintf("%s is %v", v.Property, v.Verdict)
		n.unclear = n.unclear || v.Unclear
		switch v.Meaning() {
		case record.Refuted:
			n.refuted = append(n.refuted, v.Property)
		case record.Met:
			n.met = append(n.met, is)
		case record.Violated, record.NotShown, record.Unseen:
			n.missed = append(n.missed, fmt.Sprintf("%s, not %v", is, v.Expect))
		case record.Broken:
			n.broken = append(n.broken, v.Property)
		case record.Weakness, record.Excused:
			n.weak = append(n.weak, v.Property)
		case record.Held:
			n.held++
		case record.Untested:
			n.untested = append(n.untested, v.Property)
		case record.Undecided:
			n.undecided = append(n.undecided, v.Property)
		}
	}
	return n
}

func (n *outcomes) whyHeld() string {
	var parts []string
	if len(n.met) > 0 {
		parts = append(parts, fmt.Sprintf("What was expected happened: %s.", and(n.met)))
	}
	switch {
	case n.held > 0 && len(n.untested) > 0:
		parts = append(parts, "Every promise that was put to the test held.")
	case n.held > 0:
		parts = append(parts, "Every promise held.")
	}
	if len(n.weak) > 0 {
		parts = append(parts, fmt.Sprintf("Known weaknesses seen: %s.", and(n.weak)))
	}
	return strings.Join(parts, " ")
}

// notShown says what of that which the scenario is there to show, on another target, was not decided on this one; "" if all was.
func notShown(r *record.Run) string {
	var open []string
	for _, property := range r.Plan.Shows {
		if v := r.Verdict(property); v != nil && v.Verdict == checkers.Unknown {
			open = append(open, property)
		}
	}
	if len(open) == 0 {
		return ""
	}
	return fmt.Sprintf("Not decided, and what %s is about: %s.", r.Plan.Scenario, and(open))
}

func (n *outcomes) whyBroken() string {
	switch {
	case len(n.broken) == 1:
		return fmt.Sprintf("A promise broke: %s.", n.broken[0])
	case len(n.broken) > 1:
		return fmt.Sprintf("%d promises broke: %s.", len(n.broken), and(n.broken))
	case len(n.missed) > 0:
		return fmt.Sprintf("What was expected did not happen: %s.", and(n.missed))
	case len(n.refuted) == 1:
		return fmt.Sprintf("A property does not hold: %s. %s", n.refuted[0], unclear)
	case len(n.refuted) > 1:
		return fmt.Sprintf("%d properties do not hold: %s. %s", len(n.refuted), and(n.refuted), unclear)
	}
	return "A promise broke."
}

// unclear is said of a history whose target is not known here, if nobody has said what must hold.
const unclear = "What it promises is not known here: --require PROPERTY says what must hold."

func (n *outcomes) whyUnknown(r *record.Run) string {
	nothing, asked := "Nothing that was promised is known to have broken.", true
	if n.unclear && n.held+len(n.undecided)+len(n.untested) == 0 {
		nothing, asked = unclear, false
	}
	switch {
	case len(r.Verdicts) == 0:
		return "Nothing was judged."
	case r.Flaw == record.Differs: // which is why much is not decided
		return "The cluster was not what the nemesis believed it to be, so the run decides nothing" + because(r.Detail) + "."
	case len(n.undecided) > 0:
		return fmt.Sprintf("Not decided: %s. %s", and(n.undecided), nothing)
	case len(n.missed) > 0:
		return fmt.Sprintf("Not decided: %s.", and(n.missed))
	}
	switch r.Flaw {
	case record.CutShort:
		if why, doubtful := r.Frame().Doubtful(); doubtful {
			return "There is no sign that the history is complete: " + why + ". " + nothing
		}
		return "The run was cut short, so it decides nothing. " + nothing
	case record.NotFaulty:
		return "No fault was seen to take effect, so the run decides nothing" + because(r.Detail) + ". " + nothing
	case record.NotAll:
		return "Not every fault was seen to take effect, so the run decides nothing" + because(r.Detail) + ". " + nothing
	}
	if n.held > 0 {
		return "No promise of the election was put to the test, but that its nodes stay up. " + nothing
	}
	if !asked {
		return nothing
	}
	return "No promise was put to the test. " + nothing
}

// because is why the first fault without effect had none.
func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(why, ".")
}

func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// meaning says in a few words what a verdict means for its run.
func meaning(v *record.Verdict) string {
	switch m := v.Meaning(); {
	case m == record.Met:
		return "as expected"
	case m.Missed():
		return fmt.Sprintf("expected %v", v.Expect)
	case m == record.Broken:
		return "promise broken"
	case m == record.Untested:
		return "promised, not tested"
	case v.Untested:
		return "not tested"
	case m == record.Held, m == record.Undecided:
		return "promised"
	case m == record.Weakness, m == record.Excused:
		return "known weakness"
	case v.Unclear:
		return "promise not known"
	case v.Excused:
		return "promise lifted by faults"
	}
	return "not promised"
}
