package report

import (
	"encoding/json"
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
	var broken, met, missed, undecided, untested, weak []string
	held := 0
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		is := fmt.Sprintf("%s is %v", v.Property, v.Verdict)
		switch {
		case v.met():
			met = append(met, is)
		case v.missed():
			missed = append(missed, fmt.Sprintf("%s, not %v", is, v.Expect))
		case v.broken():
			broken = append(broken, v.Property)
		case v.Verdict == checkers.Invalid:
			weak = append(weak, v.Property)
		case v.Promised && v.Verdict == checkers.Valid:
			held++
		case v.Promised && v.Untested:
			untested = append(untested, v.Property)
		case v.Promised:
			undecided = append(undecided, v.Property)
		}
	}
	switch r.Status {
	case statusHeld:
		var parts []string
		if len(met) > 0 {
			parts = append(parts, fmt.Sprintf("What was expected happened: %s.", and(met)))
		}
		switch {
		case held > 0 && len(untested) > 0:
			parts = append(parts, "Every promise that was put to the test held.")
		case held > 0:
			parts = append(parts, "Every promise held.")
		}
		if len(weak) > 0 {
			parts = append(parts, fmt.Sprintf("Known weaknesses seen: %s.", and(weak)))
		}
		return strings.Join(parts, " ")
	case statusBroken:
		switch {
		case len(broken) == 1:
			return fmt.Sprintf("A promise broke: %s.", broken[0])
		case len(broken) > 1:
			return fmt.Sprintf("%d promises broke: %s.", len(broken), and(broken))
		case len(missed) > 0:
			return fmt.Sprintf("What was expected did not happen: %s.", and(missed))
		}
		return "A promise broke."
	case statusUnknown:
		s := "Nothing that was promised is known to have broken."
		switch {
		case len(r.Verdicts) == 0:
			return "Nothing was judged."
		case len(undecided) > 0:
			return fmt.Sprintf("Not decided: %s. %s", and(undecided), s)
		case len(missed) > 0:
			return fmt.Sprintf("Not decided: %s.", and(missed))
		case !r.History.Complete():
			return "The run was cut short, so it decides nothing. " + s
		case differs(r.History) != "":
			return "The cluster was not what the nemesis believed it to be, so the run decides nothing: " + differs(r.History) + "."
		case !tookEffect(r.History):
			return "Not every fault was seen to take effect, so the run decides nothing. " + s
		}
		return "No promise was put to the test. " + s
	}
	return "The harness or the engine failed; this says nothing about the target."
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

// JSON is a run as one object for scripts.
func JSON(r *Run) ([]byte, error) {
	type verdict struct {
		Property string           `json:"property"`
		Verdict  checkers.Verdict `json:"verdict"`
		Promised bool             `json:"promised"`
		Expected *bool            `json:"expected,omitempty"` // whether it is what the scenario expects, if it expects anything
		Ops      []int            `json:"ops"`
		Why      string           `json:"why"`
	}
	out := struct {
		Run      string    `json:"run"`
		Seed     uint64    `json:"seed"`
		Status   int       `json:"status"`
		Verdicts []verdict `json:"verdicts"`
	}{r.Dir, r.Seed, r.Status, []verdict{}}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		j := verdict{v.Property, v.Verdict, v.Promised, nil, v.Ops, v.Why}
		if j.Ops == nil {
			j.Ops = []int{}
		}
		if v.Expect != checkers.Unknown {
			met := v.met()
			j.Expected = &met
		}
		out.Verdicts = append(out.Verdicts, j)
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("report: encode the run: %w", err)
	}
	return append(b, '\n'), nil
}
