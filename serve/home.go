package serve

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// filter is which runs and findings to show; what is empty asks for nothing.
type filter struct {
	Target, Property, State, Text string
	Page                          int // from 1
}

func filterOf(q url.Values) filter {
	page, err := strconv.Atoi(q.Get("page"))
	if err != nil || page < 1 {
		page = 1
	}
	return filter{q.Get("target"), q.Get("property"), q.Get("state"), strings.ToLower(strings.TrimSpace(q.Get("text"))), page}
}

// Any reports whether the filter asks for anything.
func (f filter) Any() bool { return f.Target+f.Property+f.State+f.Text != "" }

// At is the query that shows another page of the same.
func (f filter) At(page int) string {
	q := url.Values{}
	for _, kv := range [][2]string{{"target", f.Target}, {"property", f.Property}, {"state", f.State}, {"text", f.Text}} {
		if kv[1] != "" {
			q.Set(kv[0], kv[1])
		}
	}
	if page > 1 {
		q.Set("page", strconv.Itoa(page))
	}
	return "?" + q.Encode()
}

// runs returns those that pass. With a property it is those that violated it.
func (f filter) runs(all []*Run) (some []*Run) {
	for _, r := range all {
		violates := func(v Verdict) bool { return v.Kind != "" && v.Property == f.Property }
		switch {
		case f.Target != "" && r.Target != f.Target, f.State != "" && string(r.State) != f.State:
		case f.Property != "" && !slices.ContainsFunc(r.Verdicts, violates):
		case f.Text != "" && !strings.Contains(strings.ToLower(r.ID+" "+r.Title+" "+r.Sentence+" "+strconv.FormatUint(r.Seed, 10)), f.Text):
		default:
			some = append(some, r)
		}
	}
	return some
}

// findings returns those that pass.
func (f filter) findings(all []*Finding) (some []*Finding) {
	for _, d := range all {
		switch {
		case f.Target != "" && d.Target != f.Target, f.Property != "" && d.Property != f.Property:
		case f.State == "new" && !d.New(), f.State != "" && f.State != "new" && d.Standing() != f.State:
		case f.Text != "" && !strings.Contains(strings.ToLower(d.Signature+" "+d.Why), f.Text):
		default:
			some = append(some, d)
		}
	}
	return some
}

// choices are what the filters of a page offer.
type choices struct{ Targets, Properties, States []string }

func choicesOf(runs []*Run) (c choices) {
	targets, properties := map[string]bool{}, map[string]bool{}
	for _, r := range runs {
		if r.Target != "" {
			targets[r.Target] = true
		}
		for _, v := range r.Verdicts {
			if v.Kind != "" {
				properties[v.Property] = true
			}
		}
	}
	return choices{Targets: sorted(targets), Properties: sorted(properties)}
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// homePage is the findings, with what is under way before them and the newest runs behind.
type homePage struct {
	Filter   filter
	Choices  choices
	Findings []*Finding
	Hidden   int // findings that the filter leaves out
	Live     []*Run
	Working  []Activity // hunts, matrices and campaigns under way
	Newest   []*Run
	Runs     int
	Counts   []count
	Left     int // findings after those on this page
}

// count is how many runs are in a state.
type count struct {
	State State
	N     int
	Of    *Run // one of them, for its style
}

const (
	findingsOnPage = 60
	newestOnHome   = 12
	runsOnPage     = 100
)

func (s *Server) home(w http.ResponseWriter, r *http.Request) {
	f, shot := filterOf(r.URL.Query()), s.index.now()
	all, found := shot.runs, s.findings(shot)
	p := homePage{Filter: f, Choices: choicesOf(all), Findings: f.findings(found), Runs: len(all), Newest: all[:min(len(all), newestOnHome)], Working: s.activities()}
	p.Hidden = len(found) - len(p.Findings)
	p.Choices.States = []string{string(Promise), string(Expected), string(Weakness), "new", "gone"}
	if n := len(p.Findings); n > findingsOnPage {
		p.Findings, p.Left = p.Findings[:findingsOnPage], n-findingsOnPage
	}
	for _, st := range states {
		c := count{State: st}
		for _, run := range all {
			if run.State == st {
				c.N, c.Of = c.N+1, cmp.Or(c.Of, run)
				if st == UnderWay {
					p.Live = append(p.Live, run)
				}
			}
		}
		if c.N > 0 {
			p.Counts = append(p.Counts, c)
		}
	}
	s.show(w, r, "home", frame{Title: "Findings", Tab: "findings", Page: p})
}

// listPage is all runs, page by page.
type listPage struct {
	Filter     filter
	Choices    choices
	Runs       []*Run
	Total      int
	From, To   int
	Prev, Next int // pages; 0 is none
	More       bool
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	f, shot := filterOf(r.URL.Query()), s.index.now()
	some := f.runs(shot.runs)
	from := min((f.Page-1)*runsOnPage, len(some))
	to := min(from+runsOnPage, len(some))
	p := listPage{Filter: f, Choices: choicesOf(shot.runs), Runs: some[from:to], Total: len(some), From: from + 1, To: to, More: shot.more}
	for _, st := range states {
		p.Choices.States = append(p.Choices.States, string(st))
	}
	if f.Page > 1 {
		p.Prev = f.Page - 1
	}
	if to < len(some) {
		p.Next = f.Page + 1
	}
	s.show(w, r, "list", frame{Title: "Runs", Tab: "runs", Page: p})
}
