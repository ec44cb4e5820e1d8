package matrix

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"recount/harness/record"
	"recount/report"
)

//go:embed page.html
var pageTemplate string

//go:embed page.css
var pageCSS string

//go:embed cells.css
var cellsCSS string

// Style is the style sheet of the classes that Cell.Class returns, for a page that begins with report.Style.
func Style() template.CSS { return template.CSS(cellsCSS) }

//go:embed page.js
var pageJS template.JS

// A command is broken between its words: browsers break at hyphens, too.
var page = template.Must(template.New("page").Funcs(template.FuncMap{"words": strings.Fields, "href": report.Href}).Parse(pageTemplate))

// view is what the page's template shows.
type view struct {
	Table      *Table
	Mark, Tone string
	Sentence   string
	Facts      [][2]string
	Style, CSS template.CSS
	JS, Data   template.JS
	Across     int // squares of a cell, side by side
	Columns    []columnView
	Overview   []overviewRow
	Heat       []heatRow
	Broken     findingsView
	Weak       findingsView
	FootGuns   []FootGun
}

type columnView struct {
	Column
	Cut bool // a line goes before it
}

type overviewRow struct {
	Row   Row
	Cells []says
}

// says is one word of the overview.
type says struct{ Sign, Tone, Title, Href string }

type heatRow struct {
	Row   Row
	Cells []heatCell
}

type heatCell struct {
	Title   string
	Cut     bool
	Squares []square
}

type square struct{ Class, Run string }

type findingsView struct {
	Tone string
	All  []findingView
}

type findingView struct {
	Finding
	Under string
	Same  bool // the row is that of the finding above
}

// HTML writes the matrix as one page that needs nothing but the runs beside it.
func HTML(w io.Writer, t *Table) error {
	v := &view{
		Table: t, Mark: "✓", Tone: "held", Sentence: t.sentence(), Facts: t.facts(), Style: report.Style(), CSS: template.CSS(strings.Replace(pageCSS, "/*cells*/\n", cellsCSS, 1)), JS: pageJS,
		Across: (len(t.Properties) + 2) / 3, FootGuns: t.FootGuns(),
		Broken: shown("broken", t.Findings(Broken)), Weak: shown("weak", t.Findings(Weak)),
	}
	switch t.Status() {
	case record.StatusBroken:
		v.Mark, v.Tone = "✕", "broken"
	case record.StatusUnknown:
		v.Mark, v.Tone = "?", "open"
	}
	for i, c := range t.Columns {
		v.Columns = append(v.Columns, columnView{c, i > 0 && c.Kind != t.Columns[i-1].Kind})
	}
	for r := range t.Rows {
		v.Overview = append(v.Overview, t.overviewRow(r))
		v.Heat = append(v.Heat, t.heatRow(r, v.Columns))
	}
	data, err := t.data()
	if err != nil {
		return err
	}
	v.Data = template.JS(data) // json.Marshal has escaped what could end the element
	var b bytes.Buffer
	if err := page.Execute(&b, v); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// data is what the page's script knows of the table.
func (t *Table) data() ([]byte, error) {
	d := struct {
		Columns    int      `json:"columns"`
		Properties []string `json:"properties"`
		Pairs      []Pair   `json:"pairs"`
	}{Columns: len(t.Columns), Pairs: t.Pairs}
	for _, p := range t.Properties {
		d.Properties = append(d.Properties, p.Name)
	}
	b, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode the cells: %w", err)
	}
	return b, nil
}

func (t *Table) facts() [][2]string {
	facts := [][2]string{
		{"elections", fmt.Sprint(len(t.Rows))}, {"faults and scenarios", fmt.Sprint(len(t.Columns))},
		{"properties", fmt.Sprint(len(t.Properties))}, {"runs", thousands(t.Runs)}, {"took", lasted(t.Took)},
		{"broken promises", thousands(t.Count(Broken))}, {"known weaknesses", thousands(t.Count(Weak))},
		{"valid", thousands(t.Count(Valid))}, {"unknown", thousands(t.Count(Unknown))},
	}
	if guns := t.FootGuns(); len(guns) > 0 {
		caught := 0
		for i := range guns {
			if len(guns[i].By) > 0 {
				caught++
			}
		}
		facts = append(facts, [2]string{"foot-guns caught", fmt.Sprintf("%d of %d", caught, len(guns))})
	}
	return facts
}

func (t *Table) overviewRow(r int) overviewRow {
	o := overviewRow{Row: t.Rows[r]}
	for p := range t.Properties {
		verdict, columns := t.Summary(r, p)
		promised := t.promised(r, p)
		s := says{}
		s.Sign, _ = sign(verdict, promised, t.possible(r))
		s.Tone = [...]string{NotApplicable: "none", Unknown: "open", Valid: "kept", Weak: "weak", Broken: "broken"}[verdict]
		s.Title = fmt.Sprintf("%s, %s: %v", t.Rows[r].Word, t.Properties[p].Name, verdict)
		if verdict == Valid && promised {
			s.Tone = "held"
		}
		if verdict >= Weak {
			name := t.Properties[p].Name
			f := t.findings(r, func(c *Cell) bool { return c.Verdict == verdict })
			f = slices.DeleteFunc(f, func(f Finding) bool { return f.Property != name })
			s.Sign += fmt.Sprint(len(columns))
			s.Title += " under " + f[0].under() + "\n" + f[0].Cell.Why
			if slices.ContainsFunc(columns, func(c int) bool { return t.Pair(r, c).Cells[p].Caught > 0 }) {
				s.Tone += " meant"
			}
			if f[0].Cell.Run != "" {
				s.Href = report.Href(f[0].Cell.Run + "/report.html")
			}
		}
		o.Cells = append(o.Cells, s)
	}
	return o
}

func (t *Table) heatRow(r int, columns []columnView) heatRow {
	h := heatRow{Row: t.Rows[r]}
	for c := range columns {
		pair := t.Pair(r, c)
		cell := heatCell{Cut: columns[c].Cut, Title: pair.summary(t)}
		for p := range pair.Cells {
			class := pair.Cells[p].Class()
			if pair.Barred != "" {
				class = "na"
			}
			cell.Squares = append(cell.Squares, square{class, pair.Cells[p].Run})
		}
		h.Cells = append(h.Cells, cell)
	}
	return h
}

// summary is a pair in words.
func (p *Pair) summary(t *Table) string {
	s := fmt.Sprintf("%s, %s: %s", p.Row, p.Column, counted(p.Runs, "run"))
	if p.Barred != "" {
		return s + ": " + p.Barred
	}
	for i := range p.Cells {
		if c := &p.Cells[i]; c.Verdict >= Weak {
			s += fmt.Sprintf("\n%v: %s in %d", c.Verdict, t.Properties[i].Name, c.Invalid)
		}
	}
	return s
}

// Class is the colour of a cell: the more of its runs violated the property, the stronger.
func (c *Cell) Class() string {
	switch c.Verdict {
	case Broken:
		return "b"
	case Weak:
		share := float64(c.Invalid) / float64(c.Invalid+c.Valid+c.Unknown)
		return fmt.Sprintf("w%d", 1+min(int(share*4), 3))
	case Valid:
		if c.Promised {
			return "v"
		}
		return "h"
	case Unknown:
		return "u"
	}
	return "x"
}

func shown(tone string, all []Finding) findingsView {
	v := findingsView{Tone: tone}
	for i := range all {
		v.All = append(v.All, findingView{all[i], all[i].under(), i > 0 && all[i].Row == all[i-1].Row})
	}
	return v
}
