package matrix

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recount/harness/record"
	"recount/internal/count"
)

// Finding is that a row violates a property: under which columns, and the run that shows it best.
type Finding struct {
	Row      string
	Property string
	Columns  []string
	Column   string // of the run that shows it
	Cell     *Cell  // of the run that shows it
}

// Findings are the violations of a kind, row by row. The run shown is the one with the smallest seed, under the first of
// the columns that have it. What a foot-gun breaks besides what it is there for is its target's weakness, and not listed
// again.
func (t *Table) Findings(kind Outcome) (all []Finding) {
	for r := range t.Rows {
		if kind == Weak && t.Rows[r].FootGun() {
			continue
		}
		all = append(all, t.findings(r, func(c *Cell) bool { return c.Verdict == kind })...)
	}
	return all
}

// findings are the violations of one row that are of interest.
func (t *Table) findings(row int, interesting func(*Cell) bool) (all []Finding) {
	for p := range t.Properties {
		f := Finding{Row: t.Rows[row].Word, Property: t.Properties[p].Name}
		for c := range t.Columns {
			cell := &t.Pair(row, c).Cells[p]
			if !interesting(cell) {
				continue
			}
			f.Columns = append(f.Columns, t.Columns[c].Name)
			if f.Cell == nil || cell.Seed < f.Cell.Seed {
				f.Column, f.Cell = t.Columns[c].Name, cell
			}
		}
		if f.Cell != nil {
			all = append(all, f)
		}
	}
	return all
}

// under names the columns of a finding, the one that is shown first.
func (f *Finding) under() string {
	words := []string{f.Column}
	for _, c := range f.Columns {
		if c != f.Column {
			words = append(words, c)
		}
	}
	return strings.Join(words, ", ")
}

// headline says what was measured.
func (t *Table) headline() string {
	what := "election"
	if t.On == record.OnVirtual {
		what = "real election"
	}
	return fmt.Sprintf("%s × %d faults and scenarios: %s in %s", counted(len(t.Rows), what), len(t.Columns),
		counted(t.Runs, "run"), lasted(t.Took))
}

// sentence says what came of it.
func (t *Table) sentence() string {
	var parts []string
	switch n := t.Count(Broken); {
	case t.Runs == 0:
		return "Nothing was measured."
	case n == 0:
		parts = append(parts, "Every promise held.")
	case n == 1:
		parts = append(parts, "One promise broke.")
	default:
		parts = append(parts, fmt.Sprintf("%d promises broke.", n))
	}
	parts = append(parts, fmt.Sprintf("Of %s, %s are valid, %s %s, %s unknown, and %s untested.",
		counted(len(t.Pairs)*len(t.Properties), "cell"), thousands(t.Count(Valid)), thousands(t.Count(Weak)), weaknesses(t.Count(Weak)),
		thousands(t.Count(Unknown)), thousands(t.Count(NotApplicable))))
	if t.Stopped != "" {
		of := ""
		if t.Planned > 0 {
			of = " of " + thousands(t.Planned)
		}
		parts = append(parts, fmt.Sprintf("%s after %s%s runs.", t.Stopped, thousands(t.Runs), of))
	}
	if u := t.Unstarted; u != nil {
		parts = append(parts, fmt.Sprintf("%s did not start, the first by %s: %s.", counted(u.Runs, "run"), u.Command, u.Why))
	}
	return strings.Join(parts, " ")
}

func weaknesses(n int) string {
	if n == 1 {
		return "known weakness"
	}
	return "known weaknesses"
}

// FootGun is a foot-gun: an option that makes elections wrong on purpose, and what caught it.
type FootGun struct {
	Option string
	About  string
	Rows   []string  // that have it
	By     []Finding // violations that are its doing, row by row
	Tried  bool      // some run was made of one of them
}

// Properties are those that caught it.
func (g *FootGun) Properties() (names []string) {
	for _, f := range g.By {
		if !slices.Contains(names, f.Property) {
			names = append(names, f.Property)
		}
	}
	return names
}

// Shown are the findings with the smallest seed of each row.
func (g *FootGun) Shown() (shown []Finding) {
	for _, f := range g.By {
		if last := len(shown) - 1; last < 0 || shown[last].Row != f.Row {
			shown = append(shown, f)
		} else if f.Cell.Seed < shown[last].Cell.Seed {
			shown[last] = f
		}
	}
	return shown
}

// FootGuns returns the foot-guns of the rows, and what caught them.
func (t *Table) FootGuns() (guns []FootGun) {
	for r := range t.Rows {
		for _, option := range t.Rows[r].guns() {
			if v := t.Rows[r].Options[option]; v != "true" {
				option += "=" + v
			}
			i := slices.IndexFunc(guns, func(g FootGun) bool { return g.Option == option })
			if i < 0 {
				i = len(guns)
				guns = append(guns, FootGun{Option: option, About: t.Rows[r].About})
			}
			guns[i].Rows = append(guns[i].Rows, t.Rows[r].Word)
			guns[i].Tried = guns[i].Tried || t.tried(r)
			guns[i].By = append(guns[i].By, t.findings(r, func(c *Cell) bool { return c.Caught > 0 })...)
		}
	}
	return guns
}

// tried reports whether a run was made of a row.
func (t *Table) tried(row int) bool {
	for c := range t.Columns {
		if t.Pair(row, c).Runs > 0 {
			return true
		}
	}
	return false
}

// Status is what a matrix amounts to, in the exit statuses of a run: a promise broke or a scenario missed its point;
// nothing is known, as too little was measured; or all held.
func (t *Table) Status() int {
	switch {
	case t.Count(Broken) > 0 || len(t.Missed) > 0:
		return record.StatusBroken
	case t.Interrupted || t.Count(Valid) == 0 || t.Unstarted != nil:
		return record.StatusUnknown
	}
	return record.StatusHeld
}

// thousands writes a number: "11,904".
func thousands(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// counted writes a number of things: "1 run", "12,000 runs".
func counted(n int, thing string) string { return thousands(n) + " " + count.Noun(n, thing) }

// lasted writes how long something took: "850 ms", "58 s", "3m20s".
func lasted(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
