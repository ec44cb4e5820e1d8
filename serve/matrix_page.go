package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"recount/harness/matrix"
)

// matricesPage lists the matrices among the results.
type matricesPage struct{ Folders []Folder }

func (s *Server) matrices(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, "matrices", frame{Title: "Matrix", Tab: "matrix", Page: matricesPage{s.index.now().folders("matrix")}})
}

// heatPage is a matrix: the worst of all properties in each cell, or one property.
type heatPage struct {
	ID       string
	Table    *matrix.Table
	Columns  []heatColumn
	Rows     []heatRow
	Untested []heatRow // of which no cell says anything
	Property string
	With     string   // the matrix that it is compared with
	Others   []Folder // that it could be compared with
	Changes  []Change // since that one
	Left     int      // changes after those
	Chosen   *heatChoice
	Counts   []heatCount

	shot *snapshot
}

type heatColumn struct {
	matrix.Column
	Cut bool // a line goes before it
}

type heatRow struct {
	matrix.Row
	Cells []heatCell
}

// heatCell is one square of the map.
type heatCell struct {
	Sign, Class string
	Href        string // the run that shows it, or what there is to say of the cell
	Title       string
	Was         string // what it was in the matrix that this is compared with, where that differs
	Cut         bool
}

// heatChoice is the cell that somebody has chosen, property by property.
type heatChoice struct {
	*matrix.Pair
	Cells []heatVerdict
}

type heatVerdict struct {
	Property string
	*matrix.Cell
	Href string
}

// heatCount is how many cells came to something.
type heatCount struct {
	N    int
	Of   matrix.Outcome
	Tone string
}

// Words are such as "2 known weaknesses".
func (c heatCount) Words() string {
	many := map[matrix.Outcome]string{matrix.Broken: "s", matrix.Weak: "es"}
	if c.N == 1 {
		many = nil
	}
	return fmt.Sprintf("%d %v%s", c.N, c.Of, many[c.Of])
}

// hasMatrix reports whether there is a matrix with an ID.
func (s *snapshot) hasMatrix(id string) bool {
	return slices.ContainsFunc(s.other, func(f Folder) bool { return f.Kind == "matrix" && f.ID == id })
}

// matrixOf looks up a matrix by its ID. Otherwise it has answered.
func (s *Server) matrixOf(w http.ResponseWriter, r *http.Request, shot *snapshot, id string) *matrix.Table {
	if !shot.hasMatrix(id) {
		s.fail(w, r, http.StatusNotFound, "There is no such matrix among the results.")
		return nil
	}
	t, err := s.table(id)
	if err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, problem(err))
	}
	return t
}

func (s *Server) matrix(w http.ResponseWriter, r *http.Request) {
	shot, q := s.index.now(), queryOf(r)
	p := heatPage{ID: strings.TrimSuffix(r.PathValue("path"), "/"), Property: q.Get("property"), With: q.known("with", "matrix", shot.hasMatrix), shot: shot}
	if p.Table = s.matrixOf(w, r, shot, p.ID); p.Table == nil || s.refuses(w, r, q) {
		return
	}
	for _, f := range shot.folders("matrix") {
		if f.ID != p.ID {
			p.Others = append(p.Others, f)
		}
	}
	was := map[[2]string]string{}
	if p.With != "" {
		before := s.matrixOf(w, r, shot, p.With)
		if before == nil {
			return
		}
		p.compare(before, was)
	}
	p.paint(was)
	p.choose(q.Get("row"), q.Get("column"))
	s.show(w, r, "matrix", frame{Title: "Matrix", Tab: "matrix", Scripts: []string{"grid.js"}, Page: p})
}

// compare takes note of what has changed since another matrix, and of the signs that the cells had there.
func (p *heatPage) compare(before *matrix.Table, was map[[2]string]string) {
	const most = 200
	for _, c := range changes(before, p.Table) {
		if p.Property == "" || c.Property == p.Property {
			p.Changes = append(p.Changes, c)
			was[[2]string{c.Row, c.Column}] = "?"
		}
	}
	for i := range before.Pairs {
		pair := &before.Pairs[i]
		if _, changed := was[[2]string{pair.Row, pair.Column}]; changed {
			if c := pick(before, pair, p.Property); c != nil {
				was[[2]string{pair.Row, pair.Column}] = c.Sign()
			}
		}
	}
	if n := len(p.Changes); n > most {
		p.Changes, p.Left = p.Changes[:most], n-most
	}
}

// pick returns the cell of a pair that is shown: that of a property, or the worst, one with a run if there is one.
func pick(t *matrix.Table, pair *matrix.Pair, property string) (shown *matrix.Cell) {
	for k := range pair.Cells {
		c := &pair.Cells[k]
		switch {
		case property != "":
			if t.Properties[k].Name == property {
				return c
			}
		case shown == nil || c.Verdict > shown.Verdict, c.Verdict == shown.Verdict && (shown.Run == "" && c.Run != "" || c.Promised && !shown.Promised):
			shown = c
		}
	}
	return shown
}

func (p *heatPage) paint(was map[[2]string]string) {
	t := p.Table
	for i, c := range t.Columns {
		p.Columns = append(p.Columns, heatColumn{c, i > 0 && c.Kind != t.Columns[i-1].Kind})
	}
	counts := map[matrix.Outcome]int{}
	for r := range t.Rows {
		row := heatRow{Row: t.Rows[r]}
		for c := range t.Columns {
			pair := t.Pair(r, c)
			cell := heatCell{Sign: "·", Class: "x", Cut: p.Columns[c].Cut, Was: was[[2]string{pair.Row, pair.Column}]}
			cell.Title = pair.Row + " under " + pair.Column + ": "
			if best := pick(t, pair, p.Property); best != nil {
				counts[best.Verdict]++
				cell.Sign, cell.Class = best.Sign(), best.Class()
				cell.Title += best.Verdict.String()
				cell.Href = p.runOf(best)
			}
			if cell.Class == "x" {
				cell.Sign, cell.Title = unjudged(pair)
			}
			if cell.Was != "" {
				cell.Title += ", was " + cell.Was
			}
			if cell.Href == "" {
				cell.Href = p.At("row", pair.Row, "column", pair.Column) + "#cell"
			}
			row.Cells = append(row.Cells, cell)
		}
		if slices.ContainsFunc(row.Cells, func(c heatCell) bool { return c.Class != "x" || c.Was != "" }) {
			p.Rows = append(p.Rows, row)
		} else {
			p.Untested = append(p.Untested, row)
		}
	}
	for o, tone := range map[matrix.Outcome]string{matrix.Broken: "broken", matrix.Weak: "weak", matrix.Valid: "held", matrix.Unknown: "open"} {
		if counts[o] > 0 {
			p.Counts = append(p.Counts, heatCount{counts[o], o, tone})
		}
	}
	slices.SortFunc(p.Counts, func(a, b heatCount) int { return int(b.Of) - int(a.Of) })
}

// unjudged says of a cell why no property was judged: none can be, or none was put to the test.
func unjudged(pair *matrix.Pair) (sign, title string) {
	title = pair.Row + " under " + pair.Column + ": "
	switch {
	case pair.Barred != "":
		return "–", title + "does not apply, no run is possible: " + pair.Barred
	case pair.Runs == 0:
		return "·", title + "not put to the test, no run was made"
	}
	return "·", title + "not put to the test by its runs"
}

// runOf is the address of the run that shows what a cell came to, or "".
func (p *heatPage) runOf(c *matrix.Cell) string {
	if run := p.shot.byID[path.Join(p.ID, c.Run)]; c.Run != "" && run != nil {
		return link(run.ID)
	}
	return ""
}

func (p *heatPage) choose(row, column string) {
	for i := range p.Table.Pairs {
		pair := &p.Table.Pairs[i]
		if pair.Row != row || pair.Column != column {
			continue
		}
		p.Chosen = &heatChoice{Pair: pair}
		for k := range pair.Cells {
			if c := &pair.Cells[k]; c.Verdict != matrix.NotApplicable {
				p.Chosen.Cells = append(p.Chosen.Cells, heatVerdict{p.Table.Properties[k].Name, c, p.runOf(c)})
			}
		}
	}
}

// Href is the address of the run that shows a change, or of its cell.
func (p heatPage) Href(c Change) string {
	if to := p.runOf(c.cell); to != "" {
		return to
	}
	return p.At("row", c.Row, "column", c.Column) + "#cell"
}

// At is the address of the same page with some of its settings changed.
func (p heatPage) At(settings ...string) string {
	q := url.Values{}
	for _, kv := range [][2]string{{"property", p.Property}, {"with", p.With}} {
		if kv[1] != "" {
			q.Set(kv[0], kv[1])
		}
	}
	for i := 0; i+1 < len(settings); i += 2 {
		if q.Set(settings[i], settings[i+1]); settings[i+1] == "" {
			q.Del(settings[i])
		}
	}
	return "?" + q.Encode()
}

// Words are what the runs of a cell came to.
func (v heatVerdict) Words() string {
	var words []string
	for _, c := range []struct {
		n    int
		what string
	}{{v.Broken, "broke the promise"}, {v.Invalid - v.Broken, "violated it"}, {v.Valid, "held"}, {v.Unknown, "could not tell"}, {v.Untested, "did not test it"}} {
		if c.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return strings.Join(words, ", ")
}

// apiMatrices is GET /api/v1/matrices.
func (s *Server) apiMatrices(w http.ResponseWriter, _ *http.Request) {
	some := s.index.now().folders("matrix")
	answer(w, map[string]any{"total": len(some), "matrices": asList(some)})
}

// apiMatrix is GET /api/v1/matrices/{id}: the matrix, and with ?with= what has changed since another.
func (s *Server) apiMatrix(w http.ResponseWriter, r *http.Request) {
	shot := s.index.now()
	t := s.matrixOf(w, r, shot, r.PathValue("path"))
	if t == nil {
		return
	}
	q := queryOf(r)
	with := q.known("with", "matrix", shot.hasMatrix)
	if s.refuses(w, r, q) {
		return
	}
	if with == "" {
		answer(w, t)
		return
	}
	before := s.matrixOf(w, r, shot, with)
	if before == nil {
		return
	}
	all := changes(before, t)
	answer(w, map[string]any{"total": len(all), "changes": asList(all)})
}
