// Package checkers judges histories: one file per property. A checker sees a history and nothing else.
//
// A verdict is valid, invalid or unknown, and nothing is valid by default: a history with no operations to judge, a
// checker that crashed or ran out of time, a fault that never took effect all end as unknown.
package checkers

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"recount/history"
)

// Verdict is a checker's answer. The zero value is Unknown.
type Verdict uint8

// The verdicts.
const (
	Unknown Verdict = iota
	Valid
	Invalid
)

var verdictNames = [...]string{Unknown: "unknown", Valid: "valid", Invalid: "invalid"}

func (v Verdict) String() string { return verdictNames[v] }

// MarshalText writes the verdict's name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a verdict's name.
func (v *Verdict) UnmarshalText(b []byte) error {
	i := slices.Index(verdictNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("unknown verdict %q: want valid, invalid or unknown", b)
	}
	*v = Verdict(i)
	return nil
}

// Result is a verdict with its evidence.
type Result struct {
	Property string  `json:"property"`
	Verdict  Verdict `json:"verdict"`
	// Why is one sentence a person understands. Invalid: what happened. Unknown: what is missing, and what would settle
	// it. Valid: what was seen, so that one can tell how much the verdict is worth.
	Why string `json:"why"`
	// Untested says that a verdict is unknown only because the run had nothing that puts the property to the test (no
	// node was ever cut off, nobody wrote): not for lack of evidence about something that was tried.
	Untested bool `json:"untested,omitempty"`
	// Ops are the Index of the smallest set of ops that shows a violation, in order.
	Ops []int `json:"ops,omitempty"`
	// From and To bound the violation in time.
	From time.Duration `json:"from,omitempty"`
	To   time.Duration `json:"to,omitempty"`
	// Doubt is when that may have been which the property forbids, of a result that is unknown for nothing else; nil of others, and where
	// the checker does not tell. Of several it is the first that is outside of all lapses, if there is one.
	Doubt *Lapse `json:"-"`
	// Figures are numbers worth knowing whatever the verdict: "leader changes": "12".
	Figures []Figure `json:"figures,omitempty"`
	// Stack is where the checker crashed.
	Stack string `json:"stack,omitempty"`
	// Drawing is porcupine's own picture of what it decided, an HTML page; nil where it decided nothing, or too much
	// to be drawn.
	Drawing []byte `json:"-"`

	about set // nodes that a violation is about, beside those of its ops
}

// FaultsThen is the figure of an invalid result that tells what was at fault when the property broke: first what touched
// the nodes that it is about, then what was elsewhere.
const FaultsThen = "faults at the time"

// Figure is one thing worth knowing of a run: a count, a length of time, or words.
type Figure struct {
	Name  string `json:"name"`
	Value string `json:"value"` // as people read it: "12", "3.4 s", "2 of 3"
	// Number and Unit are the same for programs, where the figure is one number. Unit is "" where it is not, and in runs
	// that were stored before figures had units.
	Number float64 `json:"number,omitempty"`
	Unit   Unit    `json:"unit,omitempty"`
}

// Unit says what the number of a figure counts.
type Unit string

// The units of figures.
const (
	Things    Unit = "things"
	Seconds   Unit = "s"
	PerMinute Unit = "/min"
)

// Checker judges one property, either by what is gathered of every history (check), or by what it is told besides (watch).
type Checker struct {
	Property string // as in the table of properties: "single-leader-per-term"
	Holds    string // completes "holds when …"

	// check judges by the facts alone, when all of them are known.
	check func(ctx context.Context, f *facts) Result
	// watch begins to judge a history by ops of these kinds, too. The facts grow with the ops: at each of them they are
	// what was known by then.
	watch func(f *facts) watcher
	of    []history.F
	timed bool // what breaks it is how long something took
	// processes is whether it tells of these alone, and nothing of an election.
	processes bool
	// believes is whether it rests on what the nemesis believes to have done to nodes and links.
	believes bool
}

// watcher is what one checker keeps of one history: of the cluster's size, unless the property cannot be decided in one pass.
type watcher interface {
	// take takes note of an op, in order of time. It must not keep the pointer.
	take(op *history.Op)
	// check judges what was taken. Nothing is taken after it.
	check(ctx context.Context) Result
}

var registry []Checker

// register adds a checker; registering a property twice is a programming error.
func register(c Checker) {
	if slices.ContainsFunc(registry, func(o Checker) bool { return o.Property == c.Property }) {
		panic("checkers: property registered twice: " + c.Property)
	}
	registry = append(registry, c)
	slices.SortFunc(registry, func(a, b Checker) int {
		return cmp.Or(order(a.Property)-order(b.Property), strings.Compare(a.Property, b.Property))
	})
}

// All returns every checker: safety first, then stability, then liveness.
func All() []Checker { return slices.Clone(registry) }

// order is the order in which people want to read verdicts. A property that is not in it comes after these, by name.
func order(property string) int {
	first := []string{
		"single-leader-per-term", "exclusive-leadership", "fencing", "monotonic-term", "vote-once", "quorum",
		"agreement", "ordered-updates", "linearizable", "sticky-leader", "no-ping-pong", "bounded-terms", "stays-up", "no-alarm", "elects",
		"learns-leader", "progress",
	}
	if i := slices.Index(first, property); i >= 0 {
		return i
	}
	return len(first)
}

// OfElection reports whether a property says something of an election, and not of processes alone.
func OfElection(property string) bool {
	return !slices.ContainsFunc(registry, func(c Checker) bool { return c.Property == property && c.processes })
}

// some are the checkers of these properties. It panics if there is none of a name.
func some(properties []string) []Checker {
	by := slices.DeleteFunc(All(), func(c Checker) bool { return !slices.Contains(properties, c.Property) })
	if len(by) != len(properties) {
		panic(fmt.Sprintf("checkers: not all of %q are properties", properties))
	}
	return by
}

// guarded turns a crash of judge into a result.
func guarded(judge func() Result) (r Result) {
	defer func() {
		if p := recover(); p != nil {
			r = crash(p)
		}
	}()
	return judge()
}

// crash is the result of a checker that crashed.
func crash(why any) Result {
	return Result{Verdict: Unknown, Why: fmt.Sprintf("the checker crashed: %v", why), Stack: string(debug.Stack())}
}
