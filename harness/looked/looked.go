// Package looked tells how much runs have looked at: what it is worth that they have found nothing.
package looked

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"recount/harness/estimate"
	"recount/harness/record"
	"recount/internal/count"
	"recount/virtual/cover"
)

// Looked is how much all runs together have looked at.
type Looked struct {
	Runs  int              `json:"runs"`
	Keys  int              `json:"keys"`  // different things that they reached, of each target by themselves
	Curve []estimate.Point `json:"curve"` // keys over runs
	// Chance is how likely one more run is to reach something that none has. It supposes that this one is drawn as those were: of
	// a search that prefers what led to something new it tells how fast the search still learns.
	Chance estimate.Rate `json:"chance"`
	// Idle are the faults that were tried and never took effect, and Unaimed the kinds of messages that nodes sent and no fault was
	// aimed at by their names.
	Idle []string `json:"idle"`
	// Vain tells of each fault of Idle how often it was tried, and why the first did not take effect.
	Vain    map[string]Vain `json:"vain"`
	Unaimed []string        `json:"unaimed"`
	Code    *Code           `json:"code,omitempty"` // nil where no program tells which of its statements ran
	// Sometimes are the lines that are to come sometimes in logs of nodes; nil where there are none.
	Sometimes *Sometimes `json:"sometimes,omitempty"`
}

// Sometimes is what came of lines that are to come sometimes.
type Sometimes struct {
	Lines int      `json:"lines"` // of so many kinds
	Never []string `json:"never"` // the patterns of those of which none came in any run
}

// Code is how much of the nodes' programs has run.
type Code struct {
	Statements int        `json:"statements"`
	Ran        int        `json:"ran"`
	Never      []Function `json:"never"` // functions of which nothing has, the longest first
	// Profile is all of it.
	Profile *cover.Profile `json:"-"`
}

// Function is one of a program's.
type Function struct {
	Name       string `json:"name"`
	File       string `json:"file"`
	Statements uint32 `json:"statements"`
}

// Vain is of a fault that never took effect.
type Vain struct {
	Times int    `json:"times"`
	Why   string `json:"why,omitempty"` // of the first of which it is known
}

// Look is what one run has looked at.
type Look struct {
	Reached map[Feature]struct{}
	Kinds   []string // of the messages that nodes sent, where they are known
	Named   []string // of these, those that faults were aimed at
	Aimed   []Aimed
	Code    *cover.Profile // nil where no program tells

	Sometimes []record.Sometimes
}

// Of is what a run has looked at, given what its ops have shown as they came; nil for one that has its history.
func Of(r *record.Run, s *Situation) Look {
	if s == nil {
		if s = NewSituation(); len(r.Relations) == 0 {
			for i := range r.History.Ops {
				s.Take(&r.History.Ops[i])
			}
		}
	}
	all, named := aimed(r.Frame())
	return Look{Reached: reached(r, s), Kinds: r.Kinds, Named: named, Aimed: all, Code: r.Code, Sometimes: r.Sometimes}
}

// Count counts what runs look at. The order of the runs decides the curve, and nothing else. It is not for several goroutines
// at once.
type Count struct {
	unseen     estimate.Unseen[key]
	targets    map[string]bool
	tried      map[string]Vain // faults, as far as they were in vain
	took       map[string]bool // those that were not, once
	met, aimed map[message]bool
	code       *cover.Profile // nil until a program tells
	came       map[hoped]int  // lines that are to come sometimes
}

// key is what was reached of one target, which tells nothing of others.
type key struct {
	target string
	Feature
}

// message is a kind of messages of one target.
type message struct{ target, kind string }

// hoped is a kind of line that is to come sometimes in logs of one target.
type hoped struct{ target, pattern string }

// Hoped is what came of lines that are to come sometimes, given how often each came.
func Hoped(came map[string]int) *Sometimes {
	s := &Sometimes{Lines: len(came), Never: []string{}}
	for _, pattern := range slices.Sorted(maps.Keys(came)) {
		if came[pattern] == 0 {
			s.Never = append(s.Never, pattern)
		}
	}
	return s
}

// NewCount is that of no runs.
func NewCount() *Count {
	return &Count{targets: map[string]bool{}, tried: map[string]Vain{}, took: map[string]bool{}, met: map[message]bool{}, aimed: map[message]bool{}, came: map[hoped]int{}}
}

// Add counts a run of a target.
func (c *Count) Add(target string, l Look) {
	c.targets[target] = true
	c.unseen.Add(func(yield func(key) bool) {
		for f := range l.Reached {
			if !yield(key{target, f}) {
				return
			}
		}
	})
	for _, a := range l.Aimed {
		c.took[a.Fault] = c.took[a.Fault] || a.Took
		vain := c.tried[a.Fault]
		vain.Times++
		vain.Why = cmp.Or(vain.Why, a.Why)
		c.tried[a.Fault] = vain
	}
	if l.Code != nil {
		if c.code == nil {
			c.code = cover.NewProfile()
		}
		c.code.Add(l.Code)
	}
	for _, s := range l.Sometimes {
		c.came[hoped{target, s.Pattern}] += s.Times
	}
	for _, kind := range l.Kinds {
		c.met[message{target, kind}] = true
	}
	for _, kind := range l.Named {
		c.aimed[message{target, kind}] = true
	}
}

// So is what has been looked at so far.
func (c *Count) So() Looked {
	l := Looked{
		Runs: c.unseen.Runs(), Keys: c.unseen.Keys(), Curve: c.unseen.Curve(), Chance: c.unseen.Chance(),
		Idle: []string{}, Vain: map[string]Vain{}, Unaimed: []string{},
	}
	for _, name := range slices.Sorted(maps.Keys(c.tried)) {
		if !c.took[name] {
			l.Idle = append(l.Idle, name)
			l.Vain[name] = c.tried[name]
		}
	}
	for m := range c.met {
		if !c.aimed[m] {
			l.Unaimed = append(l.Unaimed, c.of(m.kind, m.target))
		}
	}
	slices.Sort(l.Unaimed)
	if len(c.came) > 0 {
		came := map[string]int{}
		for h, times := range c.came {
			came[c.of(h.pattern, h.target)] = times
		}
		l.Sometimes = Hoped(came)
	}
	if c.code != nil {
		l.Code = codeOf(c.code)
	}
	return l
}

// of names what belongs to a target, which is told where there are several.
func (c *Count) of(what, target string) string {
	if len(c.targets) > 1 {
		what += " of " + target
	}
	return what
}

// codeOf sums up a profile.
func codeOf(p *cover.Profile) *Code {
	c := &Code{Profile: p, Never: []Function{}}
	c.Ran, c.Statements = p.Statements()
	for _, b := range p.Never() {
		c.Never = append(c.Never, Function{b.Func, b.File, b.Statements})
	}
	return c
}

// words say it in a line.
func (c *Code) words() string {
	words := cover.Words(c.Ran, c.Statements)
	if c.Statements > 0 {
		words += fmt.Sprintf(" (%.0f %%)", 100*float64(c.Ran)/float64(c.Statements))
	}
	if len(c.Never) == 0 {
		return words
	}
	var names []string
	for _, f := range c.Never {
		names = append(names, f.Name)
	}
	return fmt.Sprintf("%s, nothing of %s: %s", words, count.Of(len(names), "function"), list(names, ", "))
}

// Row is one line about it.
type Row struct{ Name, Words string }

// Rows says it for people: nothing of no runs.
func (l *Looked) Rows() (all []Row) {
	if l.Runs == 0 {
		return nil
	}
	all = append(all, Row{"new", fmt.Sprintf("the chance that one more run reaches something new is %s; %s", l.Chance, curve(l.Curve))})
	if len(l.Idle) > 0 {
		all = append(all, Row{"idle", "never took effect: " + list(l.inVain(), "; ")})
	}
	if l.Code != nil {
		all = append(all, Row{"code", l.Code.words()})
	}
	if s := l.Sometimes; s != nil {
		words := fmt.Sprintf("%d of %s that are to come sometimes came", s.Lines-len(s.Never), count.Of(s.Lines, "line"))
		if len(s.Never) > 0 {
			words += "; never: " + list(s.Never, "; ")
		}
		all = append(all, Row{"lines", words})
	}
	if len(l.Unaimed) > 0 {
		all = append(all, Row{"unaimed", "messages that no fault was aimed at: " + list(l.Unaimed, ", ")})
	}
	return all
}

// inVain names the faults that never took effect, each with how often it was tried, and why the first did not.
func (l *Looked) inVain() (all []string) {
	for _, name := range l.Idle {
		all = append(all, name+l.Vain[name].Words("at first"))
	}
	return all
}

// Words say in brackets how often a fault was tried, and why it did not take effect the time that which names, as "at first"; "" if
// nobody knows why.
func (v Vain) Words(which string) string {
	switch {
	case v.Why == "":
		return ""
	case v.Times == 1:
		return fmt.Sprintf(" (tried once: %s)", v.Why)
	}
	return fmt.Sprintf(" (tried %d times, %s: %s)", v.Times, which, v.Why)
}

// curve is a few points of it: "coverage 120 after 1, 900 after 10 runs".
func curve(all []estimate.Point) string {
	var words []string
	runs := 0
	for i, next := 0, 1; i < len(all); i++ {
		if last := i == len(all)-1; all[i].Runs >= next || last {
			runs = all[i].Runs
			words = append(words, fmt.Sprintf("%d after %d", all[i].Keys, runs))
			next = 10 * runs
		}
	}
	return "coverage " + strings.Join(words, ", ") + " " + count.Noun(runs, "run")
}

// list names as many as a line bears.
func list(names []string, sep string) string {
	const most = 12
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], sep), more)
	}
	return strings.Join(names, sep)
}
