package report

import (
	"fmt"
	"slices"
	"strings"

	"recount/checkers"
	"recount/history"
)

// Exit statuses of a run, as every report explains them.
const (
	statusHeld    = 0
	statusBroken  = 1
	statusUnknown = 2
)

// Sentence says what a run's status means, to somebody who has not read the manual.
func Sentence(r *Run) string {
	n := tally(r.Verdicts)
	switch r.Status {
	case statusHeld:
		return n.whyHeld()
	case statusBroken:
		return n.whyBroken()
	case statusUnknown:
		return n.whyUnknown(r)
	}
	return "The harness or the engine failed; this says nothing about the target."
}

// standings are the verdicts of a run, each under what it means for the status.
type standings struct {
	broken, weak, undecided, untested []string // properties
	met, missed                       []string // what became of what was expected
	held                              int      // promises
}

func tally(verdicts []Verdict) (n standings) {
	for i := range verdicts {
		v := &verdicts[i]
		is := fmt.Sprintf("%s is %v", v.Property, v.Verdict)
		switch {
		case v.met():
			n.met = append(n.met, is)
		case v.missed():
			n.missed = append(n.missed, fmt.Sprintf("%s, not %v", is, v.Expect))
		case v.broken():
			n.broken = append(n.broken, v.Property)
		case v.Verdict == checkers.Invalid:
			n.weak = append(n.weak, v.Property)
		case v.Promised && v.Verdict == checkers.Valid:
			n.held++
		case v.Promised && v.Untested:
			n.untested = append(n.untested, v.Property)
		case v.Promised:
			n.undecided = append(n.undecided, v.Property)
		}
	}
	return n
}

func (n *standings) whyHeld() string {
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

func (n *standings) whyBroken() string {
	switch {
	case len(n.broken) == 1:
		return fmt.Sprintf("A promise broke: %s.", n.broken[0])
	case len(n.broken) > 1:
		return fmt.Sprintf("%d promises broke: %s.", len(n.broken), and(n.broken))
	case len(n.missed) > 0:
		return fmt.Sprintf("What was expected did not happen: %s.", and(n.missed))
	}
	return "A promise broke."
}

func (n *standings) whyUnknown(r *Run) string {
	const nothing = "Nothing that was promised is known to have broken."
	switch {
	case len(r.Verdicts) == 0:
		return "Nothing was judged."
	case len(n.undecided) > 0:
		return fmt.Sprintf("Not decided: %s. %s", and(n.undecided), nothing)
	case len(n.missed) > 0:
		return fmt.Sprintf("Not decided: %s.", and(n.missed))
	case !r.History.Complete():
		return "The run was cut short, so it decides nothing. " + nothing
	case differs(r.History) != "":
		return "The cluster was not what the nemesis believed it to be, so the run decides nothing: " + differs(r.History) + "."
	case !tookEffect(r.History):
		return "Not every fault was seen to take effect, so the run decides nothing. " + nothing
	}
	return "No promise was put to the test. " + nothing
}

// differs says how the cluster was found not to be what the nemesis believed; "" if it was.
func differs(h *history.History) string {
	for i := range h.Ops {
		if op := &h.Ops[i]; op.F == history.Compare && op.Type != history.OK {
			return op.Error
		}
	}
	return ""
}

// tookEffect reports whether every fault that was asked for was seen to happen.
func tookEffect(h *history.History) bool {
	return !slices.ContainsFunc(h.Ops, func(op history.Op) bool {
		return op.F == history.Inject && (op.Type == history.Fail || op.Type == history.Info)
	})
}

func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// standing says in two words what a verdict means for its run.
func (v *Verdict) standing() string {
	switch {
	case v.met():
		return "as expected"
	case v.missed():
		return fmt.Sprintf("expected %v", v.Expect)
	case v.broken():
		return "promise broken"
	case v.Untested && v.Promised:
		return "promised, not tested"
	case v.Untested:
		return "not tested"
	case v.Promised:
		return "promised"
	case v.Verdict == checkers.Invalid:
		return "known weakness"
	}
	return "not promised"
}
