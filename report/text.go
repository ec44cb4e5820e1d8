package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"recount/checkers"
	"recount/harness/record"
	"recount/internal/count"
	"recount/internal/term"
)

// columns is how wide a text may be.
const columns = 120

// Colours reports whether f is a terminal whose owner does not mind colours.
func Colours(f *os.File) bool {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Text writes the run as a table for a terminal: its verdicts with their evidence, then where the report lies, then the
// command that repeats the run.
func Text(w io.Writer, r *record.Run, coloured bool) error {
	t := &texter{Pen: term.Pen(coloured)}
	t.line(term.Bold, headline(r))
	t.line(term.Dim, facts(r))
	t.line("", "")
	t.table(r)
	notes := r.Notes
	if r.Frame().Untimed() {
		notes = append(slices.Clone(notes), untimed)
	}
	clocks := clockWords(r)
	if clocks != "" {
		t.paragraph(t.name("clocks"), 8, clocks)
	}
	for _, n := range notes {
		t.paragraph(t.name("note"), 8, n)
	}
	if len(notes) > 0 || clocks != "" {
		t.line("", "")
	}
	colour := map[int]term.Colour{record.StatusHeld: term.Green, record.StatusBroken: term.Red, record.StatusUnknown: term.Yellow}[r.Status]
	t.paragraph(t.name("status")+t.Paint(cmp.Or(colour, term.Red), fmt.Sprint(r.Status))+"  ", 11, Sentence(r))
	if r.Dir != "" {
		t.line("", t.name("report")+Page(r))
	}
	if r.Repeat != "" {
		t.line("", t.name("repeat")+r.Repeat)
	}
	if line := debugging(r); line != "" {
		t.line("", t.name("debug")+line)
	}
	if _, err := w.Write(t.Bytes()); err != nil {
		return fmt.Errorf("write the text: %w", err)
	}
	return nil
}

// untimed is said of a history without times.
const untimed = "the history does not tell the time of each op: only their order is known, and no length of time that is given means anything"

// plainText is Text for a file.
func plainText(w io.Writer, r *record.Run) error { return Text(w, r, false) }

// membersOf says how many nodes a run had, and how many servers besides.
func membersOf(r *record.Run) string {
	candidates, servers := len(r.Nodes), 0
	if setup := r.Setup(); setup != nil {
		candidates, servers = len(setup.Candidates()), len(setup.Servers)
	}
	s := count.Of(candidates, "node")
	switch servers {
	case 0:
		return s
	case 1:
		return s + " and 1 server"
	}
	return fmt.Sprintf("%s and %d servers", s, servers)
}

// facts says in one line where and how a run ran.
func facts(r *record.Run) string {
	var parts []string
	if r.Cluster != "" {
		parts = append(parts, fmt.Sprintf("%s, %s, seed %d", clusterWords(r.Cluster), membersOf(r), r.Seed))
	}
	if f := r.Frame(); f.Count > 0 {
		ops := count.Of(f.Happened(), "op")
		if !f.Untimed() {
			ops += " in " + seconds(f.Last)
		}
		parts = append(parts, ops)
		if still, much := f.Standstills().Much(f.Last); much {
			parts = append(parts, "the machine stood still for "+seconds(still))
		}
	}
	if r.Took > 0 {
		parts = append(parts, "took "+seconds(r.Took.Round(10*time.Millisecond)))
	}
	return strings.Join(parts, "; ")
}

type texter struct {
	bytes.Buffer
	term.Pen
}

func (t *texter) line(colour term.Colour, s string) {
	t.WriteString(strings.TrimRight(t.Paint(colour, term.Printable(s)), " "))
	t.WriteByte('\n')
}

// name opens a line below the table. Paths and commands there are not wrapped: they are there to be copied.
func (t *texter) name(s string) string { return fmt.Sprintf("%-8s", s+":") }

// paragraph writes a text, wrapped and indented, behind its name.
func (t *texter) paragraph(name string, indent int, s string) {
	for _, l := range term.Wrap(term.Printable(s), columns-indent) {
		t.WriteString(name)
		t.line("", l)
		name = strings.Repeat(" ", indent)
	}
}

// table writes a verdict a row; reasons are wrapped in their column.
func (t *texter) table(r *record.Run) {
	vs := ranked(r)
	if len(vs) == 0 {
		return
	}
	first, second, third := len("PROPERTY"), len("unknown"), 0
	for _, v := range vs {
		first, third = max(first, len(v.Property)), max(third, len(meaning(v)))
	}
	indent := 2 + first + 2 + second + 2 + third + 2
	ending := common(vs)
	t.line(term.Dim, fmt.Sprintf("  %-*s  %-*s  %-*s  %s", first, "PROPERTY", second, "VERDICT", third, "", "WHY"))
	for _, v := range vs {
		sign, colour := sign(v)
		fmt.Fprintf(t, "%s %-*s  %s  %-*s  ", t.Paint(colour, sign), first, term.Printable(v.Property),
			t.Paint(colour, fmt.Sprintf("%-*v", second, v.Verdict)), third, meaning(v))
		in := 0 // the row's beginning stands already
		column := func(colour term.Colour, text string) {
			for _, l := range term.Wrap(term.Printable(text), columns-indent) {
				t.line(colour, strings.Repeat(" ", in)+l)
				in = indent
			}
		}
		column("", cmp.Or(strings.TrimSuffix(v.Why, ending), "no reason given"))
		if v.Verdict != checkers.Valid {
			column(term.Dim, evidence(v, 6))
		}
		if v.While != "" && v.Verdict == checkers.Invalid {
			column(term.Dim, "promised while "+v.While)
		}
	}
	t.line("", "")
	if ending != "" {
		t.paragraph(t.name("seen"), 8, strings.TrimPrefix(ending, clause))
	}
}

// clause divides the reasons of verdicts into clauses.
const clause = "; "

// common returns the clause that ends the reasons of most verdicts, "" if none ends several: it is read once, below the table.
func common(vs []*record.Verdict) (ending string) {
	most, ends := 1, map[string]int{}
	for _, v := range vs {
		if i := strings.LastIndex(v.Why, clause); i >= 0 {
			last := v.Why[i:]
			if ends[last]++; ends[last] > most {
				most, ending = ends[last], last
			}
		}
	}
	return ending
}

// sign is a verdict in one character, for those who look rather than read, and its colour.
func sign(v *record.Verdict) (sign string, colour term.Colour) {
	switch v.Verdict {
	case checkers.Valid:
		return "✓", term.Green
	case checkers.Invalid:
		if v.Meaning().Fails() {
			return "✕", term.Red
		}
		return "✕", term.Yellow
	}
	return "?", term.Yellow
}

// evidence names up to so many of a verdict's ops, when it was, and what was at fault then.
func evidence(v *record.Verdict, most int) string {
	if len(v.Ops) == 0 {
		return ""
	}
	words := make([]string, 0, most)
	for i, op := range v.Ops {
		if len(v.Ops) > most && i == most-1 {
			words = append(words, fmt.Sprintf("… %d (%d ops)", v.Ops[len(v.Ops)-1], len(v.Ops)))
			break
		}
		words = append(words, fmt.Sprint(op))
	}
	s := count.Noun(len(v.Ops), "op") + " " + strings.Join(words, ", ")
	if v.To > 0 {
		s += fmt.Sprintf("; %s to %s", seconds(v.From), seconds(v.To))
	}
	for _, f := range v.Figures {
		if f.Name == checkers.FaultsThen && f.Value != "none" {
			s += "; at fault then: " + f.Value
		}
	}
	return s
}
