package serve

import (
	"fmt"
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
	Page                          int // from 1 to lastPage
}

// lastPage is more than any results have, and few enough that what stands on pages can be counted.
const lastPage = 1_000_000

// filterOf reads a filter of what can be in some states.
func filterOf(q *query, states []string) filter {
	if q.Get("state") == "gone" && slices.Contains(states, notSeen) { // as it was once called
		q.Set("state", notSeen)
	}
	return filter{
		q.Get("target"), q.Get("property"), q.one("state", "", states), strings.ToLower(strings.TrimSpace(q.Get("text"))),
		q.whole("page", 1, 1, lastPage),
	}
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
		case f.State != "" && !d.is(f.State):
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
	Filter  filter
	Choices choices
	Groups  []group
	Hidden  int // findings that the filter leaves out
	Broken  int // broken promises, a card each
	In      int // runs that show them
	Live    []*Run
	Working []Activity // hunts, matrices and campaigns under way
	Newest  []listed
	Runs    int
	Counts  []tally
	Left    int // findings after those on this page
}

// group is findings that stand together. Those with a name can be folded.
type group struct {
	Name     string
	Open     bool
	Findings []*Finding
}

// notSeen is the state of findings that are gone, as far as is known.
const notSeen = "not seen since"

// runStates are what runs can be asked for by, in the order in which filters offer them.
func runStates() (names []string) {
	for _, st := range states {
		names = append(names, string(st))
	}
	return names
}

// findingStates are the same of findings.
func findingStates() (names []string) {
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return append(names, "new", notSeen)
}

// grouped puts broken promises, what may be one and what was expected first, and known weaknesses and what was not seen since behind, folded unless
// nothing stands before them.
func grouped(all []*Finding, open bool) []group {
	gs := []group{{}, {Name: "known weaknesses", Open: open}, {Name: notSeen, Open: open}}
	for _, f := range all {
		k := 0
		switch {
		case f.Gone:
			k = 2
		case f.Kind == Weakness:
			k = 1
		}
		gs[k].Findings = append(gs[k].Findings, f)
	}
	gs = slices.DeleteFunc(gs, func(g group) bool { return len(g.Findings) == 0 })
	if len(gs) > 0 {
		gs[0].Open = true
	}
	return gs
}

// brokenPromises counts the findings that are broken promises, and the runs that show one.
func brokenPromises(all []*Finding) (n, in int) {
	runs := map[*Run]bool{}
	for _, f := range all {
		if f.Gone || f.Kind != Promise {
			continue
		}
		n++
		for _, r := range f.shows {
			for _, v := range r.Verdicts {
				if v.Property == f.Property && v.Kind == Promise {
					runs[r] = true
				}
			}
		}
	}
	return n, len(runs)
}

// times writes words that come more than once a single time, with how often: "kill n1 ×2".
func times(words []string) (some []string) {
	often := map[string]int{}
	for _, w := range words {
		if often[w]++; often[w] == 1 {
			some = append(some, w)
		}
	}
	for i, w := range some {
		if often[w] > 1 {
			some[i] = fmt.Sprintf("%s ×%d", w, often[w])
		}
	}
	return some
}

// tally is how many runs are in a state.
type tally struct {
	State State
	N     int
	Tone  string // the style that goes with it
}

const (
	findingsOnPage = 60
	newestOnHome   = 12
	runsOnPage     = 100
)

func (s *Server) home(w http.ResponseWriter, r *http.Request) {
	q := queryOf(r)
	f, shot := filterOf(q, findingStates()), s.index.now()
	if s.refuses(w, r, q) {
		return
	}
	all, found := shot.runs, s.findings(shot)
	p := homePage{Filter: f, Choices: choicesOf(all), Runs: len(all), Newest: shot.listed(all[:min(len(all), newestOnHome)]), Working: s.activities()}
	pass := f.findings(found)
	p.Hidden = len(found) - len(pass)
	p.Broken, p.In = brokenPromises(found)
	p.Choices.States = findingStates()
	if n := len(pass); n > findingsOnPage {
		pass, p.Left = pass[:findingsOnPage], n-findingsOnPage
	}
	p.Groups = grouped(pass, f.Any())
	for _, st := range states {
		c := tally{State: st, Tone: st.tone()}
		for _, run := range all {
			if run.State == st {
				c.N++
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

// listed is a run in a list.
type listed struct {
	*Run
	Again *Run // the older run that it repeats, or nil
}

func (s *snapshot) listed(runs []*Run) (rows []listed) {
	again := s.again()
	for _, r := range runs {
		rows = append(rows, listed{r, again[r]})
	}
	return rows
}

// listPage is all runs, page by page.
type listPage struct {
	Filter     filter
	Choices    choices
	Runs       []listed
	Total      int
	From, To   int
	Prev, Next int // pages; 0 is none
	More       bool
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	q := queryOf(r)
	f, shot := filterOf(q, runStates()), s.index.now()
	if s.refuses(w, r, q) {
		return
	}
	some := f.runs(shot.runs)
	from := min((f.Page-1)*runsOnPage, len(some))
	to := min(from+runsOnPage, len(some))
	p := listPage{Filter: f, Choices: choicesOf(shot.runs), Runs: shot.listed(some[from:to]), Total: len(some), From: from + 1, To: to, More: shot.more}
	p.Choices.States = runStates()
	if f.Page > 1 {
		p.Prev = f.Page - 1
	}
	if to < len(some) {
		p.Next = f.Page + 1
	}
	s.show(w, r, "list", frame{Title: "Runs", Tab: "runs", Page: p})
}
