package serve

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"recount/history"
	"recount/report"
)

// The API has the data of the pages, version 1. docs/serve.md describes it.

func encode(w http.ResponseWriter, v any) {
	e := json.NewEncoder(w) // escapes <, > and &, so that no browser takes an answer for a page
	_ = e.Encode(v)         // what is encoded here can be, and a browser that has gone away is none of ours
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	encode(w, v)
}

// asList is what is encoded as a list where there are none, too: nil would be null.
func asList[T any](all []T) []T { return append([]T{}, all...) }

// apiRuns is GET /api/v1/runs: runs by the filters of the page, 1,000 at a time.
func (s *Server) apiRuns(w http.ResponseWriter, r *http.Request) {
	q := queryOf(r)
	f, shot := filterOf(q, runStates()), s.index.now()
	if s.refuses(w, r, q) {
		return
	}
	some := f.runs(shot.runs)
	const each = 1000
	from := min((f.Page-1)*each, len(some))
	page := some[from:min(from+each, len(some))]
	answer(w, struct {
		Total int    `json:"total"`
		Page  int    `json:"page"`
		Runs  []*Run `json:"runs"`
	}{len(some), f.Page, asList(page)})
}

// apiFindings is GET /api/v1/findings.
func (s *Server) apiFindings(w http.ResponseWriter, r *http.Request) {
	q := queryOf(r)
	f := filterOf(q, findingStates())
	if s.refuses(w, r, q) {
		return
	}
	some := f.findings(s.findings(s.index.now()))
	answer(w, map[string]any{"total": len(some), "findings": asList(some)})
}

// apiRun is GET /api/v1/runs/{id}, and what is below it.
func (s *Server) apiRun(w http.ResponseWriter, r *http.Request) {
	p, _ := s.latest(r.PathValue("path"))
	run, rest := s.find(p)
	switch {
	case run == nil:
		s.noRun(w, r, p)
	case rest == "":
		answer(w, run)
	case rest == "ops":
		s.apiOps(w, r, run)
	case rest == "events":
		s.apiEvents(w, r, run)
	case rest == "messages":
		s.apiMessages(w, r, run)
	case rest == "picture":
		s.apiPicture(w, r, run)
	default:
		s.fail(w, r, http.StatusNotFound, "A run has no "+strconv.Quote(rest)+".")
	}
}

// opView is an op as the API tells it: as its line of the history, and in words.
type opView struct {
	Op    json.RawMessage `json:"op"`
	Words string          `json:"words"`
	Took  time.Duration   `json:"took,omitempty"` // nanoseconds since its invoke
}

const (
	opsOnPage = 200
	mostOnOne = 5000
)

// apiOps is GET /api/v1/runs/{id}/ops: those from a place on that pass a filter.
func (s *Server) apiOps(w http.ResponseWriter, r *http.Request, run *Run) {
	q := queryOf(r)
	from, limit, at, passes := q.whole("from", 0, 0, math.MaxInt), q.whole("limit", opsOnPage, 1, mostOnOne), q.instant(), opFilter(q)
	if s.refuses(w, r, q) {
		return
	}
	full, err := s.runs.run(run.ID)
	if err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, run.problem(err))
		return
	}
	h := full.History
	from = min(from, len(h.Ops))
	if at != nil {
		for from = 0; from < len(h.Ops) && h.Ops[from].Time < *at; from++ {
		}
	}
	list, next := []opView{}, -1
	for i := from; i < len(h.Ops); i++ {
		op := &h.Ops[i]
		words := report.Words(op)
		if !passes(op, words) {
			continue
		}
		if len(list) == limit {
			next = i
			break
		}
		v := opView{Op: op.AppendJSON(nil), Words: words}
		if k := h.Other(i); k >= 0 && op.Type != history.Invoke {
			v.Took = op.Time - h.Ops[k].Time
		}
		list = append(list, v)
	}
	answer(w, struct {
		Total int      `json:"total"`
		From  int      `json:"from"`
		Next  int      `json:"next"` // where the next page begins; -1 after the last
		Ops   []opView `json:"ops"`
	}{len(h.Ops), from, next, list})
}

// opFilter returns what decides which ops pass: by node, f, type, process, and a text in any of an op.
func opFilter(q *query) func(op *history.Op, words string) bool {
	node, f, process := q.Get("node"), q.Get("f"), q.Get("process")
	kind := q.one("type", "", []string{history.Invoke.String(), history.OK.String(), history.Fail.String(), history.Info.String()})
	others := []string{"", history.Nemesis.String(), history.Harness.String()}
	if _, err := strconv.ParseUint(process, 10, 31); err != nil && !slices.Contains(others, process) {
		q.want("process", "the number of a client, nemesis or harness")
	}
	text := []byte(strings.ToLower(q.Get("text")))
	return func(op *history.Op, words string) bool {
		switch {
		case node != "" && op.Node != node, f != "" && string(op.F) != f, kind != "" && op.Type.String() != kind,
			process != "" && op.Process.String() != process:
			return false
		case len(text) == 0:
			return true
		}
		line := bytes.ToLower(append(op.AppendJSON(nil), words...))
		return bytes.Contains(line, text)
	}
}
