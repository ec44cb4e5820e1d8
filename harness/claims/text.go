package claims

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"recount/internal/term"
)

// width is how wide a text may be.
const width = 120

// Text writes a report for a terminal.
func Text(w io.Writer, r *Report) error {
	var b strings.Builder
	b.WriteString(r.sentence() + "\n")
	for i := range r.Results {
		e := &r.Results[i]
		fmt.Fprintf(&b, "\n%s (%s)\n", e.Title, e.Name)
		wrap(&b, "  ", e.About)
		wrap(&b, "  ", e.made())
		for _, t := range e.Tables {
			b.WriteString("\n")
			if t.Title != "" {
				wrap(&b, "  ", t.Title)
			}
			columns(&b, t)
		}
		if len(e.Claims) > 0 {
			b.WriteString("\n")
		}
		for _, c := range e.Claims {
			wrap(&b, "  "+mark(c.Verdict)+" ", "Claimed: "+c.Says)
			wrap(&b, "      ", "Measured: "+c.Measured+".")
			if c.Verdict != Agrees {
				wrap(&b, "      ", strings.ToUpper(string(c.Verdict))+". "+c.Why)
			}
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the text: %w", err)
	}
	return nil
}

// mark is an agreement in one character.
func mark(a Agreement) string {
	return map[Agreement]string{Agrees: "=", Disagrees: "≠", Unknown: "?"}[a]
}

// sentence says what came of everything.
func (r *Report) sentence() string {
	n := map[Agreement]int{}
	for i := range r.Results {
		for _, c := range r.Results[i].Claims {
			n[c.Verdict]++
		}
	}
	s := fmt.Sprintf("%d experiments, seed %d: %d claims agree with what was measured, %d do not.", len(r.Results), r.Seed, n[Agrees], n[Disagrees])
	if n[Unknown] > 0 {
		s += fmt.Sprintf(" Of %d too little was measured.", n[Unknown])
	}
	if r.Interrupted {
		s += " Interrupted."
	}
	if r.Effort < Full {
		s += " A quick look: the numbers rest on few trials."
	}
	return s
}

// made says how much a result rests on.
func (e *Result) made() string {
	if e.Trials < e.Planned {
		return fmt.Sprintf("Interrupted after %d of %d trials.", e.Trials, e.Planned)
	}
	return fmt.Sprintf("%d trials.", e.Trials)
}

// wrap writes a text indented; curves after the first are indented as deep.
func wrap(b *strings.Builder, indent, s string) {
	n := utf8.RuneCountInString(indent)
	for _, line := range term.Wrap(s, width-n) {
		b.WriteString(indent + line + "\n")
		indent = strings.Repeat(" ", n)
	}
}

// columns writes a table.
func columns(b *strings.Builder, t Table) {
	widths := make([]int, len(t.Head))
	all := append([][]string{t.Head}, t.Rows...)
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range all {
		line := "    "
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
