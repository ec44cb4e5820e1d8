package suite

import (
	"slices"
	"time"

	"recount/checkers"
	"recount/harness/record"
	"recount/report"
)

// State is what one run comes to in its suite.
type State string

// The states of a run.
const (
	Held        State = "held"        // every promise that it tested held, and not all of them are ignored
	Allowed     State = "allowed"     // only what is known broke
	Broken      State = "broken"      // something broke that is not allowed, or did not happen that was expected
	Undecided   State = "undecided"   // status 2
	Unstarted   State = "unstarted"   // its nodes did not come up, which may be their doing
	Failed      State = "failed"      // the run could not be made
	NotRun      State = "not run"     // the budget was spent, or the suite interrupted, or no run of its scenario and target starts
	Interrupted State = "interrupted" // in its middle
)

// Weakness is a property that was violated in a run.
type Weakness struct {
	Property string `json:"property"`
	Why      string `json:"why"`
	Promised bool   `json:"promised"`
	Known    *Known `json:"known,omitempty"` // the entry that speaks of it
	Expired  bool   `json:"expired,omitempty"`
	Missed   bool   `json:"missed,omitempty"` // it is no violation: a violation was expected, and did not happen
}

// fails reports whether the weakness fails the suite.
func (w *Weakness) fails() bool { return w.Known == nil || w.Expired }

// Run is one run of a suite.
type Run struct {
	Target     string        `json:"target"`
	Scenario   string        `json:"scenario"`
	Seed       uint64        `json:"seed"`
	State      State         `json:"state"`
	Weaknesses []*Weakness   `json:"weaknesses,omitempty"`
	Sentence   string        `json:"sentence,omitempty"`
	Dir        string        `json:"dir,omitempty"` // within the suite's folder
	Repeat     string        `json:"repeat"`
	Error      string        `json:"error,omitempty"` // why it could not be made, or did not start
	Took       time.Duration `json:"took"`

	tested []string // properties that it decided
}

// speaks reports whether k is about a property of that run.
func (k *Known) speaks(r *Run, property string) bool {
	return k.Target == r.Target && k.Property == property && (k.Scenario == "" || k.Scenario == r.Scenario)
}

// judge works out what a run comes to. Every violation counts, promised or not, but those that the scenario expects of
// its own target, and those whose promise the nemesis took away.
func (s *Suite) judge(r *Run, made *record.Run, now time.Time) {
	r.Sentence = report.Sentence(made)
	r.State = Held
	undecided := made.Status == record.StatusUnknown
	decides, ignored := false, 0 // what it was made for, and of that what the suite is not about
	for i := range made.Verdicts {
		v := &made.Verdicts[i]
		if slices.Contains(s.Ignore, v.Property) {
			if v.Meaning().Decides() {
				ignored++
			}
			continue
		}
		decides = decides || v.Meaning().Decides() && checkers.OfElection(v.Property)
		if v.Verdict != checkers.Unknown {
			r.tested = append(r.tested, v.Property)
		}
		w := &Weakness{Property: v.Property, Why: v.Why, Promised: v.Promised}
		switch m := v.Meaning(); m {
		case record.Broken, record.Violated, record.Weakness:
		case record.NotShown:
			w.Missed = true
		default:
			undecided = undecided || m.Open()
			continue
		}
		for k := range s.Known {
			if known := &s.Known[k]; !w.Missed && known.speaks(r, v.Property) {
				w.Known, w.Expired = known, known.Until.passed(now)
				break
			}
		}
		r.Weaknesses = append(r.Weaknesses, w)
	}
	switch {
	case slices.ContainsFunc(r.Weaknesses, (*Weakness).fails):
		r.State = Broken
	case undecided:
		r.State = Undecided
	case len(r.Weaknesses) > 0:
		r.State = Allowed
	case !decides && ignored > 0:
		r.State, r.Sentence = Undecided, "All that it has tested is ignored."
	}
}
