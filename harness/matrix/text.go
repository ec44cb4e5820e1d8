package matrix

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"recount/harness"
	"recount/internal/term"
)

// abbreviations head the columns of a text table.
var abbreviations = map[string]string{
	"single-leader-per-term": "1/term", "exclusive-leadership": "excl", "fencing": "fence", "monotonic-term": "mono",
	"vote-once": "vote", "quorum": "quorum", "agreement": "agree", "ordered-updates": "order", "linearizable": "linear",
	"sticky-leader": "sticky", "no-ping-pong": "pong", "bounded-terms": "terms", "stays-up": "up", "no-alarm": "alarm", "elects": "elects",
	"learns-leader": "learns", "progress": "write", harness.NoProgress: "ends",
}

// Text writes the matrix for people without a browser: each election's properties under everything that was done to it,
// then all that was found, with the commands that show it.
func Text(w io.Writer, t *Table) error { return write(w, t, false, true) }

// Summarise writes the matrix for a terminal: as Text, without the known weaknesses one by one.
func Summarise(w io.Writer, t *Table, coloured bool) error { return write(w, t, coloured, false) }

func write(w io.Writer, t *Table, coloured, whole bool) error {
	x := &texter{Pen: term.Pen(coloured)}
	x.line(x.Paint(term.Bold, t.headline()))
	x.paragraph("", t.sentence())
	x.line("")
	x.table(t)
	x.line("")
	x.legend(t)
	x.findings("broken promises", t.Findings(Broken), term.Red)
	x.missed(t.Missed)
	x.guns(t.FootGuns())
	if whole {
		x.findings("known weaknesses", t.Findings(Weak), term.Yellow)
	}
	x.barred(t)
	x.looked(t)
	if _, err := w.Write(x.Bytes()); err != nil {
		return fmt.Errorf("write the text: %w", err)
	}
	return nil
}

// Sign is what a cell comes to in one character.
func (c *Cell) Sign() string {
	s, _ := sign(c.Verdict, c.Promised, true)
	return s
}

// sign is a verdict in one character, and the colour that goes with it. Where no run is possible nothing applies.
func sign(v Outcome, promised, possible bool) (sign string, colour term.Colour) {
	switch v {
	case Broken:
		return "✕", term.Red
	case Weak:
		return "!", term.Yellow
	case Valid:
		if promised {
			return "✓", term.Green
		}
		return "○", ""
	case Unknown:
		return "?", term.Yellow
	}
	if !possible {
		return "–", term.Dim
	}
	return "·", term.Dim
}

// possible reports whether any run of a row is.
func (t *Table) possible(row int) bool {
	for c := range t.Columns {
		if t.Pair(row, c).Barred == "" {
			return true
		}
	}
	return false
}

// promised reports whether a row promises a property under any column.
func (t *Table) promised(row, property int) bool {
	for c := range t.Columns {
		if t.Pair(row, c).Cells[property].Promised {
			return true
		}
	}
	return false
}

type texter struct {
	bytes.Buffer
	term.Pen
}

// width is how wide a text may be.
const width = 120

func (x *texter) line(s string) { fmt.Fprintln(x, strings.TrimRight(s, " ")) }

// paragraph writes a text wrapped and indented.
func (x *texter) paragraph(indent, s string) {
	for _, l := range term.Wrap(term.Printable(s), width-len(indent)) {
		x.line(indent + l)
	}
}

func (x *texter) table(t *Table) {
	first := 0
	for _, r := range t.Rows {
		first = max(first, len(r.Word))
	}
	cell := func(colour term.Colour, s string) string {
		return x.Paint(colour, s) + strings.Repeat(" ", 7-utf8.RuneCountInString(s))
	}
	head := strings.Repeat(" ", first+2)
	for _, p := range t.Properties {
		head += fmt.Sprintf("%-7s", abbreviations[p.Name])
	}
	x.line(x.Paint(term.Dim, strings.TrimRight(head, " ")))
	for r := range t.Rows {
		line := fmt.Sprintf("%-*s  ", first, t.Rows[r].Word)
		for p := range t.Properties {
			v, columns := t.Summary(r, p)
			s, colour := sign(v, t.promised(r, p), t.possible(r))
			if v == Broken || v == Weak {
				s += fmt.Sprint(len(columns))
			}
			line += cell(colour, s)
		}
		x.line(line)
	}
}

func (x *texter) legend(t *Table) {
	x.line(x.Paint(term.Dim, "✓ promised and held   ○ held, not promised   ✕n promise broken under n of the faults and scenarios"))
	x.line(x.Paint(term.Dim, "!n known weakness under n of them   ? undecided   – does not apply: no run is possible   · not put to the test"))
	var words []string
	for _, p := range t.Properties {
		words = append(words, abbreviations[p.Name]+" "+p.Name)
	}
	for len(words) > 0 {
		n := min(4, len(words))
		x.line(x.Paint(term.Dim, strings.Join(words[:n], ", ")))
		words = words[n:]
	}
}

func (x *texter) findings(title string, all []Finding, colour term.Colour) {
	if len(all) == 0 {
		return
	}
	x.line("")
	x.line(x.Paint(term.Bold, title))
	for i := range all {
		f := &all[i]
		x.line(fmt.Sprintf("  %s %s: %s", f.Row, x.Paint(colour, f.Property), f.under()))
		x.paragraph("    ", f.Cell.Why)
		x.line("    " + x.Paint(term.Dim, f.Cell.Command))
	}
}

func (x *texter) missed(all []Missed) {
	if len(all) == 0 {
		return
	}
	x.line("")
	x.line(x.Paint(term.Bold, "scenarios that did not show what they are there to show"))
	for _, m := range all {
		x.line(fmt.Sprintf("  %s: %s is %s in %s, not %s", m.Scenario, x.Paint(term.Red, m.Property), m.Got, counted(m.Runs, "run"), m.Expected))
		x.line("    " + x.Paint(term.Dim, m.Command))
	}
}

// guns says what caught each foot-gun.
func (x *texter) guns(all []FootGun) {
	if len(all) == 0 {
		return
	}
	x.line("")
	x.line(x.Paint(term.Bold, "foot-guns"))
	for i := range all {
		g := &all[i]
		if !g.Tried {
			x.line(fmt.Sprintf("  %s: not measured, as %s", g.Option, strings.Join(g.Rows, ", ")))
			continue
		}
		if len(g.By) == 0 {
			x.line(fmt.Sprintf("  %s: %s, as %s", g.Option, x.Paint(term.Red, "not caught"), strings.Join(g.Rows, ", ")))
			continue
		}
		f := g.Shown()[0]
		x.line(fmt.Sprintf("  %s: caught by %s", g.Option, x.Paint(term.Green, strings.Join(g.Properties(), ", "))))
		x.paragraph("    ", fmt.Sprintf("%s, %s: %s", f.Row, f.Column, f.Cell.Why))
		x.line("    " + x.Paint(term.Dim, f.Cell.Command))
	}
}

// barred says which pairs had no runs: what bars several of a column's from them for the same reason stands in one line.
func (x *texter) barred(t *Table) {
	type why struct{ column, barred string }
	var whys []why
	rows := map[why][]string{}
	for i := range t.Pairs {
		p := &t.Pairs[i]
		if p.Barred == "" {
			continue
		}
		w := why{p.Column, p.Barred}
		if rows[w] == nil {
			whys = append(whys, w)
		}
		rows[w] = append(rows[w], p.Row)
	}
	if len(whys) == 0 {
		return
	}
	x.line("")
	x.line(x.Paint(term.Bold, "no run is possible"))
	for _, w := range whys {
		of := strings.Join(rows[w], ", ")
		if len(rows[w]) == len(t.Rows) && len(t.Rows) > 1 {
			of = "all"
		}
		x.paragraph("  ", fmt.Sprintf("%s (%s): %s", w.column, of, w.barred))
	}
}

// looked says how much all runs have looked at.
func (x *texter) looked(t *Table) {
	rows := t.LookedAt()
	if len(rows) == 0 {
		return
	}
	x.line("")
	x.line(x.Paint(term.Bold, "looked at"))
	for _, row := range rows {
		for i, l := range term.Wrap(row.Words, width-13) {
			if i > 0 {
				row.Name = ""
			}
			x.line(fmt.Sprintf("  %-10s %s", row.Name, l))
		}
	}
}
