package claims

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes a report as a page, with its plots in a folder beside it.
func Markdown(w io.Writer, r *Report, plots string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Measurements: what is said about elections, and what was found\n\n")
	fmt.Fprintf(&b, "Made by `%s`: do not edit. All of it is simulated; the same command finds the same again. %s\n\n", r.Command, r.sentence())
	b.WriteString("Where it comes from: [E] an encyclopedia's page on leader election; [A] Microsoft's pattern \"Leader Election\" (2017); " +
		"[P] a practitioner's chapter with a checklist; papers by name.\n\n")
	if r.Disagreements() > 0 {
		b.WriteString("## Where measurement and claim disagree\n\n| claimed | measured | why |\n|---|---|---|\n")
		for i := range r.Results {
			for _, c := range r.Results[i].Claims {
				if c.Verdict == Disagrees {
					fmt.Fprintf(&b, "| %s | %s | %s |\n", c.Says, c.Measured, c.Why)
				}
			}
		}
		b.WriteString("\n")
	}
	for i := range r.Results {
		e := &r.Results[i]
		fmt.Fprintf(&b, "## %s\n\n%s %s `recount measure %s` makes it again.\n\n", e.Title, e.About, e.made(), e.Name)
		if len(e.Claims) > 0 {
			fmt.Fprintf(&b, "| claimed (%s) | measured | |\n|---|---|---|\n", e.Source)
			for _, c := range e.Claims {
				verdict := string(c.Verdict)
				if c.Verdict != Agrees {
					verdict = "**" + verdict + "**. " + c.Why
				}
				fmt.Fprintf(&b, "| %s | %s | %s |\n", c.Says, c.Measured, verdict)
			}
			b.WriteString("\n")
		}
		for _, p := range e.Plots {
			fmt.Fprintf(&b, "![%s](%s/%s.svg)\n\n", p.Title, plots, p.Name)
		}
		for _, t := range e.Tables {
			if t.Title != "" {
				fmt.Fprintf(&b, "%s:\n\n", t.Title)
			}
			fmt.Fprintf(&b, "| %s |\n|---|%s\n", strings.Join(t.Head, " | "), strings.Repeat("--:|", len(t.Head)-1))
			for _, row := range t.Rows {
				fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
			}
			b.WriteString("\n")
		}
	}
	if _, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n"); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
