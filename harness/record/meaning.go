package record

import "recount/checkers"

// Meaning is what a verdict means for its run.
type Meaning uint8

// The meanings.
const (
	Aside     Meaning = iota // nothing was at stake: not promised, not expected, and no violation
	Held                     // a promise held
	Met                      // what the scenario expects happened
	Weakness                 // a violation of what nobody promised
	Refuted                  // a violation of what may have been promised: nobody knows
	Excused                  // a violation of a promise whose assumption the run took away
	Untested                 // a promise that nothing put to the test
	Undecided                // a promise that was put to the test, and nobody can tell
	Unseen                   // the scenario expects something, and nobody can tell
	NotShown                 // the scenario expects a violation, and the property held
	Violated                 // the scenario expects the property to hold, and it was violated
	Broken                   // a promise was broken
)

// Meaning returns what v means for its run. What a scenario expects goes before what the target promises.
func (v *Verdict) Meaning() Meaning {
	switch {
	case v.Expect == checkers.Unknown:
		return v.ofPromise()
	case v.Verdict == v.Expect:
		return Met
	case v.Verdict == checkers.Unknown:
		return Unseen
	case v.Verdict == checkers.Valid:
		return NotShown
	}
	return Violated
}

func (v *Verdict) ofPromise() Meaning {
	switch {
	case v.Verdict == checkers.Invalid && v.Promised:
		return Broken
	case v.Verdict == checkers.Invalid && v.Excused:
		return Excused
	case v.Verdict == checkers.Invalid && v.Unclear:
		return Refuted
	case v.Verdict == checkers.Invalid:
		return Weakness
	case !v.Promised:
		return Aside
	case v.Verdict == checkers.Valid:
		return Held
	case v.Untested:
		return Untested
	}
	return Undecided
}

// Fails reports whether a verdict of that meaning fails its run.
func (m Meaning) Fails() bool { return m == Broken || m == Violated || m == NotShown }

// Open reports whether a verdict of that meaning leaves undecided what the run was to decide.
func (m Meaning) Open() bool { return m == Undecided || m == Unseen }

// Decides reports whether a verdict of that meaning is one that the run was made for, and that speaks for the target.
func (m Meaning) Decides() bool { return m == Held || m == Met }

// Missed reports whether the scenario expects something else.
func (m Meaning) Missed() bool { return m == Unseen || m == NotShown || m == Violated }
