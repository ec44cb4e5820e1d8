package suite

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"recount/harness/record"
	"recount/internal/count"
	"recount/internal/term"
)

// row is what a scenario and a target have come to.
type row struct {
	Scenario, Target string
	Runs             int
	Count            map[State]int
	Worst            State
	All              []*Run
}

// severity is in which order states are told, the worst first.
var severity = []State{Broken, Failed, Unstarted, Interrupted, NotRun, Undecided, Allowed, Held}

// rows gathers the runs by scenario and target, in the order of the file.
func (o *Outcome) rows() (rows []*row) {
	for _, r := range o.Runs {
		i := slices.IndexFunc(rows, func(w *row) bool { return w.Scenario == r.Scenario && w.Target == r.Target })
		if i < 0 {
			i = len(rows)
			rows = append(rows, &row{Scenario: r.Scenario, Target: r.Target, Count: map[State]int{}, Worst: Held})
		}
		w := rows[i]
		w.Runs++
		w.Count[r.State]++
		w.All = append(w.All, r)
		if slices.Index(severity, r.State) < slices.Index(severity, w.Worst) {
			w.Worst = r.State
		}
	}
	return rows
}

// Words is the row's runs by state: "18 held, 2 allowed".
func (w *row) Words() string {
	var parts []string
	for _, s := range slices.Backward(severity) {
		if n := w.Count[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(parts, ", ")
}

// Sign is a state in one character.
func (s State) Sign() string {
	switch s {
	case Held, Allowed:
		return "✓"
	case Broken:
		return "✕"
	case Failed:
		return "!"
	}
	return "?"
}

// finding is a weakness that fails the suite, or runs that could not be made, gathered over seeds.
type finding struct {
	First *Run
	Weakness
	Runs int
}

// findings are what fails the suite, one for each target, scenario and property, with the first run that shows it.
func (o *Outcome) findings() (list []*finding) {
	for _, r := range o.Runs {
		for _, w := range r.Weaknesses {
			if !w.fails() {
				continue
			}
			i := slices.IndexFunc(list, func(f *finding) bool {
				return f.First.Target == r.Target && f.First.Scenario == r.Scenario && f.Property == w.Property && f.Missed == w.Missed
			})
			if i < 0 {
				list = append(list, &finding{First: r, Weakness: *w, Runs: 1})
				continue
			}
			list[i].Runs++
		}
	}
	return list
}

// void are the runs of a scenario and a target that did not start, or that decided nothing.
type void struct {
	First *Run
	Runs  int
}

func (o *Outcome) void() (list []void) {
	for _, w := range o.rows() {
		for _, s := range []State{Unstarted, Undecided} {
			if n := w.Count[s]; n > 0 {
				list = append(list, void{w.All[slices.IndexFunc(w.All, func(r *Run) bool { return r.State == s })], n})
			}
		}
	}
	return list
}

func (v *void) words() string {
	what := "did not start"
	if v.First.State == Undecided {
		what = "decided nothing"
	}
	return fmt.Sprintf("%s %s; the first, seed %d", count.Of(v.Runs, "run"), what, v.First.Seed)
}

// why says what came of the first of them.
func (v *void) why() string {
	if v.First.State == Undecided {
		return v.First.Sentence
	}
	return v.First.Error
}

// Words says what kind of finding it is.
func (f *finding) Words() string {
	switch {
	case f.Missed:
		return "did not break, though the scenario expects it"
	case f.Expired:
		return fmt.Sprintf("known, but allowed only until %v: %s", f.Known.Until, f.Known.Reason)
	case f.Promised:
		return "a promise broke"
	}
	return "a new weakness"
}

// words says how a known weakness stands.
func (st *KnownState) words() string {
	switch {
	case st.Vanished:
		return fmt.Sprintf("vanished: %s could have shown it, and none did; take it out of the file", count.Of(st.Clean, "run"))
	case st.Expired && st.Seen > 0:
		return fmt.Sprintf("EXPIRED on %v, and seen in %s", st.Until, count.Of(st.Seen, "run"))
	case st.Expired:
		return fmt.Sprintf("expired on %v, and not seen", st.Until)
	case st.Seen > 0:
		return fmt.Sprintf("seen in %s, allowed until %v", count.Of(st.Seen, "run"), st.Until)
	case st.Clean > 0:
		return fmt.Sprintf("not seen in %s; others were not made here", count.Of(st.Clean, "run"))
	}
	return "not tested"
}

// where says which target and scenario a known weakness is about.
func (st *KnownState) where() string {
	if st.Scenario == "" {
		return st.Target
	}
	return st.Scenario + " on " + st.Target
}

// Sentence says what the status means.
func (o *Outcome) Sentence() string {
	came, findings := o.count(), o.findings()
	var parts []string
	switch {
	case len(findings) > 0:
		parts = append(parts, fmt.Sprintf("%s not allowed.", count.Of(len(findings), "finding")))
	case came[Failed] > 0:
		parts = append(parts, fmt.Sprintf("%s could not be made; this says nothing about the targets.", count.Of(came[Failed], "run")))
	case o.Status == record.StatusHeld:
		parts = append(parts, "Every promise that was put to the test held, and nothing broke that is not known.")
	default:
		parts = append(parts, "Nothing broke that is not known.")
	}
	if n := came[Unstarted]; n > 0 {
		parts = append(parts, count.Of(n, "run")+" did not start.")
	}
	if o.LeftOut > 0 {
		parts = append(parts, fmt.Sprintf("%s left out, since none of the same scenario and target started.", count.Of(o.LeftOut, "run")))
	}
	if n := came[Undecided]; n > 0 {
		parts = append(parts, count.Of(n, "run")+" decided nothing.")
	}
	left := came[NotRun] - o.LeftOut + came[Interrupted]
	switch {
	case o.Interrupted:
		parts = append(parts, fmt.Sprintf("Interrupted: %s left, what is done is kept.", count.Of(left, "run")))
	case o.Spent:
		parts = append(parts, fmt.Sprintf("The budget is spent: %s left.", count.Of(left, "run")))
	}
	for _, st := range o.Known {
		if st.Vanished {
			parts = append(parts, fmt.Sprintf("%s of %s has vanished.", st.Property, st.where()))
		}
	}
	return strings.Join(parts, " ")
}

func (o *Outcome) headline() string {
	runs := count.Of(len(o.Runs), "run")
	if left := o.count()[NotRun]; left > 0 {
		runs = fmt.Sprintf("%d of %s", len(o.Runs)-left, runs)
	}
	text := fmt.Sprintf("%s: %s in %v", o.File, runs, o.Took.Round(100*time.Millisecond))
	if o.Shard != "" {
		text += ", shard " + o.Shard
	}
	return text
}

// Text writes the table for a terminal.
func (o *Outcome) Text(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", o.headline())
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  SCENARIO\tTARGET\tRUNS\t")
	for _, r := range o.rows() {
		fmt.Fprintf(w, "%s %s\t%s\t%d\t%s\n", r.Worst.Sign(), r.Scenario, r.Target, r.Runs, r.Words())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, f := range o.findings() {
		fmt.Fprintf(&b, "\n✕ %s of %s under %s: %s\n  %s\n  in %s; the first: %s\n  repeat: %s\n",
			f.Property, f.First.Target, f.First.Scenario, f.Words(), term.Printable(f.Why), count.Of(f.Runs, "run"), filepath.Join(o.Dir, f.First.Dir),
			f.First.Repeat)
	}
	for _, r := range o.Runs {
		if r.State == Failed {
			fmt.Fprintf(&b, "\n! %s on %s, seed %d: %s\n", r.Scenario, r.Target, r.Seed, term.Printable(r.Error))
		}
	}
	for _, v := range o.void() {
		fmt.Fprintf(&b, "\n? %s on %s: %s\n  %s\n", v.First.Scenario, v.First.Target, v.words(), term.Printable(v.why()))
		if v.First.Dir != "" {
			fmt.Fprintf(&b, "  run: %s\n", filepath.Join(o.Dir, v.First.Dir))
		}
		fmt.Fprintf(&b, "  repeat: %s\n", v.First.Repeat)
	}
	if len(o.Known) > 0 {
		fmt.Fprintln(&b, "\nknown weaknesses")
	}
	for _, st := range o.Known {
		fmt.Fprintf(&b, "  %s of %s: %s (%s)\n", st.Property, st.where(), st.words(), st.Reason)
	}
	if rows := o.Looked.Rows(); len(rows) > 0 {
		fmt.Fprintln(&b, "\nlooked at")
		for _, row := range rows {
			fmt.Fprintf(&b, "  %-10s %s\n", row.Name, row.Words)
		}
	}
	fmt.Fprintf(&b, "\nstatus: %d  %s\n", o.Status, o.Sentence())
	if !o.unwritten {
		fmt.Fprintf(&b, "report: %s\n", o.page())
	}
	_, err := io.WriteString(out, b.String())
	return err
}
