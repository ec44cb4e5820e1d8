package serve

import (
	"net/http"
	"strings"
)

// searchPage is the forms, and what was found with one of them.
type searchPage struct {
	Forms    []form
	Asked    *question
	Targets  []string
	Target   string
	Hits     []foundIn
	Searched int
	More     int
	Left     int
}

// foundIn are the hits in one run.
type foundIn struct {
	*Run
	Hits []Hit
}

func (s *Server) searchPage(w http.ResponseWriter, r *http.Request) {
	q, shot := queryOf(r), s.index.now()
	p := searchPage{Forms: forms, Asked: q.question(), Targets: choicesOf(shot.runs).Targets, Target: q.Get("target")}
	if s.refuses(w, r, q) {
		return
	}
	f := frame{Title: "Search", Tab: "search"}
	if p.Asked != nil {
		var hits []Hit
		hits, p.Searched, p.More, p.Left = s.search(r.Context(), p.Asked)
		for _, h := range hits {
			run := shot.byID[h.Run]
			if run == nil {
				continue
			}
			if n := len(p.Hits); n == 0 || p.Hits[n-1].Run != run {
				p.Hits = append(p.Hits, foundIn{Run: run})
			}
			last := &p.Hits[len(p.Hits)-1]
			last.Hits = append(last.Hits, h)
		}
		if p.Left > 0 {
			f.Scripts = append(f.Scripts, "again.js")
		}
	}
	f.Page = p
	s.show(w, r, "search", f)
}

// Value is the number that a form shows.
func (p searchPage) Value(f form) float64 {
	if p.Asked != nil && p.Asked.Name == f.Name {
		return p.Asked.N
	}
	return f.Number
}

// Is reports whether a form is the one that was asked.
func (p searchPage) Is(f form) bool { return p.Asked != nil && p.Asked.Name == f.Name }

// apiSearch is GET /api/v1/search?form=&target=&n=&while=&node=.
func (s *Server) apiSearch(w http.ResponseWriter, r *http.Request) {
	q := queryOf(r)
	q.need("one of "+strings.Join(formNames(), ", "), "form")
	asks := q.question()
	if s.refuses(w, r, q) {
		return
	}
	hits, searched, more, left := s.search(r.Context(), asks)
	answer(w, map[string]any{"hits": asList(hits), "searched": searched, "more": more, "left": left})
}
