package serve

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"sync"

	"recount/harness/matrix"
	"recount/harness/record"
	"recount/internal/whole"
)

// tables keeps the matrices that somebody looks at.
type tables struct {
	mu   sync.Mutex
	kept recent[string, *matrix.Table] // by their folders
}

const mostTables = 4

// table reads the matrix of a folder, which is in the index.
func (s *Server) table(id string) (*matrix.Table, error) {
	s.tables.mu.Lock()
	defer s.tables.mu.Unlock()
	file := path.Join(id, matrix.DataFile)
	info, err := fs.Stat(s.fsys, file)
	if err != nil {
		return nil, err
	}
	if e := s.tables.kept.get(id, info.ModTime()); e != nil {
		return e.value, nil
	}
	b, err := whole.Read(s.fsys, file, record.MostJSON)
	if err != nil {
		return nil, err
	}
	t, err := matrix.Read(b)
	if err != nil {
		return nil, err
	}
	s.tables.kept.add(&entry[string, *matrix.Table]{id, info.ModTime(), t, 1})
	return t, nil
}

// folders are those of a kind, from the newest to the oldest.
func (s *snapshot) folders(kind string) (some []Folder) {
	for _, f := range s.other {
		if f.Kind == kind {
			some = append(some, f)
		}
	}
	slices.SortFunc(some, func(a, b Folder) int { return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID)) })
	return some
}

// Change is what one property of a row under a column came to in two matrices.
type Change struct {
	Row      string         `json:"row"`
	Column   string         `json:"column"`
	Property string         `json:"property"`
	Was      matrix.Outcome `json:"was"`
	Is       matrix.Outcome `json:"is"`

	cell *matrix.Cell // as it is
}

// Worse reports whether it is worse than it was.
func (c Change) Worse() bool { return c.Is > c.Was && c.Is >= matrix.Weak }

// Tone is the style of a change.
func (c Change) Tone() string {
	switch {
	case c.Worse():
		return "broken"
	case c.Was >= matrix.Weak:
		return "held"
	}
	return "open"
}

// changes are the cells that came to something else in now than they did in was, what got worse first. Rows, columns and properties
// that one of the two does not have are left out.
func changes(was, now *matrix.Table) (all []Change) {
	old := map[[3]string]matrix.Outcome{}
	for i := range was.Pairs {
		for k := range was.Pairs[i].Cells {
			p := &was.Pairs[i]
			old[[3]string{p.Row, p.Column, was.Properties[k].Name}] = p.Cells[k].Verdict
		}
	}
	for i := range now.Pairs {
		for k := range now.Pairs[i].Cells {
			p := &now.Pairs[i]
			c := Change{Row: p.Row, Column: p.Column, Property: now.Properties[k].Name, Is: p.Cells[k].Verdict, cell: &p.Cells[k]}
			if before, known := old[[3]string{c.Row, c.Column, c.Property}]; known && before != c.Is {
				c.Was = before
				all = append(all, c)
			}
		}
	}
	rank := func(c Change) int {
		return map[string]int{"broken": 0, "held": 1, "open": 2}[c.Tone()]*10 - int(c.Is)
	}
	slices.SortStableFunc(all, func(a, b Change) int { return rank(a) - rank(b) })
	return all
}
