package suite

import (
	_ "embed" // the page
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"strings"

	"recount/harness/record"
	"recount/internal/whole"
	"recount/report"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("suite").Funcs(template.FuncMap{"href": report.Href}).Parse(pageText))

func (o *Outcome) page() string { return filepath.Join(o.Dir, "index.html") }

// write writes all reports into the suite's folder.
func (o *Outcome) write() error {
	return whole.WriteForms(o.Dir, map[string]func(io.Writer, *Outcome) error{
		"index.html": swapped((*Outcome).HTML), "junit.xml": swapped((*Outcome).JUnit), "suite.txt": swapped((*Outcome).Text), "summary.md": swapped((*Outcome).Markdown),
		"suite.json": func(w io.Writer, o *Outcome) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(o)
		},
	}, o)
}

// swapped is a form that is a method, for WriteForms.
func swapped(form func(*Outcome, io.Writer) error) func(io.Writer, *Outcome) error {
	return func(w io.Writer, o *Outcome) error { return form(o, w) }
}

// HTML writes the index page, which links to each run's own.
func (o *Outcome) HTML(w io.Writer) error {
	mark := map[int][2]string{
		record.StatusHeld: {"✓", "held"}, record.StatusBroken: {"✕", "broken"}, record.StatusUnknown: {"?", "open"},
	}[o.Status]
	if mark[0] == "" {
		mark = [2]string{"!", "broken"}
	}
	type known struct {
		*KnownState
		Where, Words string
	}
	var ks []known
	for _, st := range o.Known {
		ks = append(ks, known{st, st.where(), st.words()})
	}
	return pageTemplate.Execute(w, map[string]any{
		"Style": report.Style(), "Outcome": o, "Headline": o.headline(), "Sentence": o.Sentence(), "Mark": mark[0], "Tone": mark[1],
		"Rows": o.rows(), "Findings": o.findings(), "Known": ks, "Looked": o.Looked.Rows(),
	})
}

// Markdown writes a summary for a page of a CI system.
func (o *Outcome) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## Recount: %s\n\n**Status %d.** %s\n\n", cell(o.headline()), o.Status, cell(o.Sentence()))
	b.WriteString("| | scenario | target | runs | |\n|---|---|---|---|---|\n")
	for _, r := range o.rows() {
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s |\n", r.Worst.Sign(), cell(r.Scenario), cell(r.Target), r.Runs, r.Words())
	}
	for _, f := range o.findings() {
		fmt.Fprintf(&b, "\n### ✕ %s of %s under %s\n\n%s. %s\n\n```\n%s\n```\n",
			cell(f.Property), cell(f.First.Target), cell(f.First.Scenario), cell(f.Words()), cell(f.Why), f.First.Repeat)
	}
	for _, v := range o.void() {
		fmt.Fprintf(&b, "\n### ? %s under %s\n\n%s: %s\n\n```\n%s\n```\n", cell(v.First.Target), cell(v.First.Scenario), cell(v.words()), cell(v.why()), v.First.Repeat)
	}
	if len(o.Known) > 0 {
		b.WriteString("\n### Known weaknesses\n\n| property | where | | reason |\n|---|---|---|---|\n")
		for _, st := range o.Known {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", st.Property, cell(st.where()), cell(st.words()), cell(st.Reason))
		}
	}
	if rows := o.Looked.Rows(); len(rows) > 0 {
		b.WriteString("\n### Looked at\n\n| | |\n|---|---|\n")
		for _, row := range rows {
			fmt.Fprintf(&b, "| %s | %s |\n", row.Name, cell(row.Words))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func cell(s string) string { return report.MarkdownText(s) }

// Annotations are what a CI system is to show beside the code.
func (o *Outcome) Annotations() (list []report.Annotation) {
	for _, f := range o.findings() {
		list = append(list, report.Annotation{
			Level: report.LevelError, Title: fmt.Sprintf("%s of %s under %s", f.Property, f.First.Target, f.First.Scenario),
			Text: fmt.Sprintf("%s: %s\nrepeat with: %s", f.Words(), f.Why, f.First.Repeat),
		})
	}
	for _, r := range o.Runs {
		if r.State == Failed {
			list = append(list, report.Annotation{Level: report.LevelError, Title: r.Scenario + " on " + r.Target, Text: r.Error})
		}
	}
	for _, v := range o.void() {
		list = append(list, report.Annotation{Level: report.LevelWarning, Title: v.First.Scenario + " on " + v.First.Target,
			Text: fmt.Sprintf("%s: %s\nrepeat with: %s", v.words(), v.why(), v.First.Repeat)})
	}
	for _, st := range o.Known {
		if st.Vanished || st.Expired {
			list = append(list, report.Annotation{Level: report.LevelWarning, Title: st.Property + " of " + st.where(),
				Text: st.words()})
		}
	}
	return list
}
