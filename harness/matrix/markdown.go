package matrix

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Markdown writes the matrix as tables that a README can show.
func Markdown(w io.Writer, t *Table) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Matrix\n\n%s. %s\n\n```\n%s\n```\n\n", t.headline(), t.sentence(), t.Command)
	b.WriteString("| election |")
	for _, p := range t.Properties {
		fmt.Fprintf(&b, " %s |", p.Name)
	}
	b.WriteString("\n|---|" + strings.Repeat(":-:|", len(t.Properties)) + "\n")
	for r := range t.Rows {
		fmt.Fprintf(&b, "| `%s` |", t.Rows[r].Word)
		for p := range t.Properties {
			v, columns := t.Summary(r, p)
			s, _ := sign(v, t.promised(r, p), t.possible(r))
			switch v {
			case Broken:
				s = fmt.Sprintf("**✕ %d**", len(columns))
			case Weak:
				s = fmt.Sprintf("! %d", len(columns))
			}
			fmt.Fprintf(&b, " %s |", s)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n✓ promised, and held; ○ held, not promised; **✕ n** promise broken under n of the faults and scenarios; " +
		"! n known weakness under n of them; ? undecided; – does not apply: no run is possible; · was not put to the test.\n")
	if guns := t.FootGuns(); len(guns) > 0 {
		b.WriteString("\n## Foot-guns\n\n| option | what it does | caught by | with |\n|---|---|---|---|\n")
		for i := range guns {
			g := &guns[i]
			by, with := "**nothing**", ""
			if !g.Tried {
				by = "not measured"
			}
			if len(g.By) > 0 {
				f := g.Shown()[0]
				by, with = strings.Join(g.Properties(), ", "), fmt.Sprintf("`%s`", f.Cell.Command)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", g.Option, bars(g.About), by, with)
		}
	}
	markFindings(&b, "Broken promises", t.Findings(Broken))
	if len(t.Missed) > 0 {
		b.WriteString("\n## Scenarios that did not show what they are there to show\n\n| scenario | property | expected | got | with |\n|---|---|---|---|---|\n")
		for _, m := range t.Missed {
			fmt.Fprintf(&b, "| %s | %s | %s | %s in %s | `%s` |\n", m.Scenario, m.Property, m.Expected, m.Got, counted(m.Runs, "run"), m.Command)
		}
	}
	markFindings(&b, "Known weaknesses", t.Findings(Weak))
	if rows := t.LookedAt(); len(rows) > 0 {
		b.WriteString("\n## Looked at\n\n| | |\n|---|---|\n")
		for _, row := range rows {
			fmt.Fprintf(&b, "| %s | %s |\n", row.Name, bars(row.Words))
		}
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the Markdown: %w", err)
	}
	return nil
}

func markFindings(b *bytes.Buffer, title string, all []Finding) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n| election | property | what happened | under | with |\n|---|---|---|---|---|\n", title)
	for i := range all {
		f := &all[i]
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | `%s` |\n", f.Row, f.Property, bars(f.Cell.Why), f.under(), f.Cell.Command)
	}
}

// bars keeps a text within its cell.
func bars(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
