package bugs

import (
	"cmp"
	"fmt"
	"strings"
)

const pageHead = `# Track record

Published bugs of real elections, made to happen on unmodified servers and libraries, and the same runs on a control that
does not have them. ` + "`recount track-record`" + ` makes the runs, each with a seed of its own, and writes this page; ` + "`make track-record`" + `
makes them all.

*Shown* counts the runs in which the checker found the property broken. A run that is undecided, and one without a verdict
(an image that could not be built, a server that ended by itself), show nothing and have their own column.

`

// Page is the record as Markdown.
func (rec *Record) Page() (string, error) {
	var b strings.Builder
	b.WriteString(pageHead)
	b.WriteString("| bug | property | ran on | shown | undecided | failed |\n|---|---|---|---|---|---|\n")
	for _, r := range All() {
		sides, err := r.sides()
		if err != nil {
			return "", err
		}
		for i, side := range sides {
			c, measured, err := rec.count(r, side)
			if err != nil {
				return "", err
			}
			bug, property := fmt.Sprintf("[%s](#%s)", r.Name, r.Name), "`"+r.Property+"`"
			about, shown := "**"+side.About+"**", fmt.Sprintf("**%d of %d**", c.Shown, c.Runs())
			if i > 0 {
				bug, property = "", ""
			}
			if side.control {
				about, shown = side.About, fmt.Sprintf("%d of %d", c.Shown, c.Runs())
			}
			undecided, failed := fmt.Sprint(c.Unknown), fmt.Sprint(c.Failed)
			if !measured {
				shown, undecided, failed = "not measured", "", ""
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", bug, property, about, shown, undecided, failed)
		}
	}
	rec.soaks(&b)
	unshownPage(&b)
	for _, r := range All() {
		if err := rec.section(&b, r); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// section tells a row's story.
func (rec *Record) section(b *strings.Builder, r Row) error {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", r.Name, r.Bug)
	fmt.Fprintf(b, "Sources: <%s>\n\n", strings.Join(r.Sources, ">, <"))
	sides, err := r.sides()
	if err != nil {
		return err
	}
	for _, side := range sides {
		c, measured, err := rec.count(r, side)
		if err != nil {
			return err
		}
		what := "affected"
		if side.control {
			what = "control"
		}
		fmt.Fprintf(b, "- %s, %s: `%s`\n", what, side.About, r.command(side))
		if measured && c.Shown > 0 {
			fmt.Fprintf(b, "  - with seed %d: %s\n", c.Seed, c.Why)
		}
		for _, p := range r.Also {
			if measured && c.Also[p] > 0 {
				fmt.Fprintf(b, "  - `%s` broke as well, in %d of %d\n", p, c.Also[p], c.Runs())
			}
		}
		if measured && c.Failed > 0 {
			fmt.Fprintf(b, "  - a run failed: %s\n", c.Problem)
		}
	}
	return nil
}

// soaks is the table of the long runs.
func (rec *Record) soaks(b *strings.Builder) {
	if len(rec.Soaks) == 0 {
		return
	}
	b.WriteString("\n## Mixed faults for a while\n\nAll faults, drawn by the seed, on each system; made by `recount track-record soak`.\n\n" +
		"| system | nodes | for | faults | leaderships | terms | broken promises | known weaknesses | undecided | ended by itself | at the end |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range rec.Soaks {
		fmt.Fprintf(b, "| %s | %d | %s | %d | %d | %d | %s | %s | %s | %s | %s |\n", s.About, s.Nodes, s.Time, s.Faults, s.Leaderships, s.Terms,
			names(s.Broken), names(s.Weak), names(s.Unknown), cmp.Or(strings.Join(s.Ended, ", "), "none"), s.End)
	}
	for _, s := range rec.Soaks {
		if len(s.Without) > 0 {
			fmt.Fprintf(b, "\n%s had all faults but %s: %s.\n", s.About, names(s.Without), s.Because)
		}
	}
}

func names(properties []string) string {
	if len(properties) == 0 {
		return "none"
	}
	return "`" + strings.Join(properties, "`, `") + "`"
}
