package checkers

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// valid is the result that a property holds. It says what was seen of it.
func valid(figures []Figure, format string, args ...any) Result {
	return Result{Verdict: Valid, Why: fmt.Sprintf(format, args...), Figures: figures}
}

// unknown is the result that there is no telling. It says what is missing, and what would settle it.
func unknown(figures []Figure, format string, args ...any) Result {
	return Result{Verdict: Unknown, Why: fmt.Sprintf(format, args...), Figures: figures}
}

// suspected is the result that nobody can tell whether what may have been in a time was a violation.
func suspected(figures []Figure, when span, format string, args ...any) Result {
	r := unknown(figures, format, args...)
	r.Doubt = &Lapse{when.from, when.to}
	return r
}

// untested is the result that nothing put the property to the test.
func untested(figures []Figure, format string, args ...any) Result {
	return Result{Verdict: Unknown, Untested: true, Why: fmt.Sprintf(format, args...), Figures: figures}
}

// evidence is what shows a violation: ops by their Index, and when it was.
type evidence struct {
	span
	ops []int
}

// invalid is the result that a property is violated. It says what happened.
func invalid(figures []Figure, e evidence, format string, args ...any) Result {
	slices.Sort(e.ops)
	return Result{
		Verdict: Invalid, Why: fmt.Sprintf(format, args...), Ops: slices.Compact(e.ops),
		From: max(e.from, 0), To: e.to, Figures: figures,
	}
}

// figure is a named number of things.
func figure(name string, n int) Figure {
	return Figure{Name: name, Value: strconv.Itoa(n), Number: float64(n), Unit: Things}
}

// duration is a named length of time.
func duration(name string, d time.Duration) Figure {
	return Figure{Name: name, Value: lasted(d), Number: d.Seconds(), Unit: Seconds}
}

// text is a named figure that is more than one number.
func text(name, value string) Figure { return Figure{Name: name, Value: value} }
