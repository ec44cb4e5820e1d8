package serve

import (
	"bytes"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"recount/checkers"
	"recount/harness/record"
	"recount/report"
)

// comparePage is two runs on one axis, or, until both are chosen, what there is to compare one with.
type comparePage struct {
	A, B    *Run
	By      string
	Problem string
	*Comparison
	First   *Difference
	Body    template.HTML
	ViewBox string
	Legend  []report.LegendEntry
	From    time.Duration
	To      time.Duration
	Choices []*Run // to compare A with
	More    int    // further ones
}

// Stalled reports whether the machine stood still in one of the runs.
func (c *Comparison) Stalled() bool { return len(c.lines[0].Stalls)+len(c.lines[1].Stalls) > 0 }

// compared are two runs that a request asks for.
type compared struct {
	runs [2]*Run
	*Comparison
	from, to time.Duration
}

// comparison reads and compares the runs that a request names. A run that it does not name is nil. Where one cannot be read, problem says why.
func (s *Server) comparison(q *query) (c compared, problem string) {
	shot := s.index.now()
	for i, name := range []string{"a", "b"} {
		c.runs[i] = shot.byID[q.known(name, "run", func(id string) bool { return shot.byID[id] != nil })]
	}
	by := q.one("by", "", []string{byName, byRole})
	const far = 1e12 // milliseconds, more than any run takes
	from, to := q.number("from", -far, -far, far), q.number("to", far, -far, far)
	if c.runs[0] == nil || c.runs[1] == nil || q.status != 0 {
		return c, ""
	}
	var both [2]*record.Run
	for i, run := range c.runs {
		full, err := s.runs.run(run.ID)
		if err != nil {
			return c, run.ID + ": " + run.problem(err)
		}
		both[i] = full
	}
	c.Comparison = compare(both[0], both[1], by)
	for i := range c.lines {
		c.from = min(c.from, -c.Zero[i])
		c.to = max(c.to, c.lines[i].End-c.Zero[i])
	}
	if whole := c.to - c.from; from < to {
		const millisecond = float64(time.Millisecond)
		c.from = min(max(c.from, time.Duration(from*millisecond)), c.to-1)
		c.to = max(min(c.to, time.Duration(to*millisecond)), c.from+min(whole, 5*time.Millisecond))
	}
	return c, ""
}

func (c *compared) pair() *report.Pair {
	d := &report.Pair{Runs: c.lines, Zero: c.Zero, From: c.from, To: c.to}
	for i, run := range c.runs {
		d.Names[i] = string(rune('A'+i)) + "  " + run.Title + " · " + run.Facts() + optionWords(run)
	}
	if len(c.Differences) > 0 {
		d.Mark = []time.Duration{c.Differences[0].Time}
	}
	return d
}

func optionWords(r *Run) (words string) {
	for _, k := range slices.Sorted(maps.Keys(r.chosen)) {
		words += " · " + k + "=" + r.chosen[k]
	}
	return words
}

func (s *Server) comparePage(w http.ResponseWriter, r *http.Request) {
	q := queryOf(r)
	c, problem := s.comparison(q)
	if s.refuses(w, r, q) {
		return
	}
	p := comparePage{A: c.runs[0], B: c.runs[1], By: q.Get("by"), Problem: problem, Comparison: c.Comparison, From: c.from, To: c.to}
	switch {
	case problem != "":
	case c.Comparison != nil:
		p.Body, p.ViewBox, p.Legend = c.pair().Chart()
		if len(c.Differences) > 0 {
			p.First = &c.Differences[0]
		}
	default:
		const most = 60
		p.Choices = controls(p.A, s.index.now().runs)
		if n := len(p.Choices); n > most {
			p.Choices, p.More = p.Choices[:most], n-most
		}
	}
	s.show(w, r, "compare", frame{Title: "Compare", Tab: "compare", Scripts: []string{"keys.js"}, Page: p})
}

func (s *Server) compareSVG(w http.ResponseWriter, r *http.Request) {
	q := queryOf(r)
	c, problem := s.comparison(q)
	q.need(bothRuns, "a", "b")
	if s.refuses(w, r, q) {
		return
	}
	if problem != "" {
		s.fail(w, r, http.StatusUnprocessableEntity, problem)
		return
	}
	var b bytes.Buffer
	if err := c.pair().SVG(&b); err != nil {
		s.fail(w, r, http.StatusInternalServerError, err.Error())
		return
	}
	picture(w, r, time.Time{}, b.Bytes())
}

// apiCompare is GET /api/v1/compare?a=&b=&by=.
func (s *Server) apiCompare(w http.ResponseWriter, r *http.Request) {
	q := queryOf(r)
	c, problem := s.comparison(q)
	q.need(bothRuns, "a", "b")
	switch {
	case s.refuses(w, r, q):
	case problem != "":
		s.fail(w, r, http.StatusUnprocessableEntity, problem)
	default:
		answer(w, struct {
			A string `json:"a"`
			B string `json:"b"`
			*Comparison
		}{c.runs[0].ID, c.runs[1].ID, c.Comparison})
	}
}

// bothRuns is what a and b are.
const bothRuns = "the runs to compare, as in a=raft/20260102-150405.000&b=…"

// controls are runs to compare one with, those first that say most: of its scenario or its target, that found to hold what it violated.
func controls(a *Run, all []*Run) (some []*Run) {
	if a == nil {
		for _, r := range all {
			if r.State != Unreadable {
				some = append(some, r)
			}
		}
		return some
	}
	rank := map[*Run]int{}
	for _, r := range all {
		n := 0
		if r.Title == a.Title {
			n += 2
		}
		if r.Target == a.Target {
			n++
		}
		if n == 0 || r == a || r.State == Unreadable {
			continue
		}
		for _, v := range a.Verdicts {
			if v.Kind != "" && slices.ContainsFunc(r.Verdicts, func(o Verdict) bool { return o.Property == v.Property && o.Verdict == checkers.Valid }) {
				n += 8
				break
			}
		}
		if r.Seed == a.Seed {
			n += 4
		}
		rank[r] = n
		some = append(some, r)
	}
	slices.SortStableFunc(some, func(x, y *Run) int { return rank[y] - rank[x] })
	return some
}

// With is the address of the comparison with another run.
func (p comparePage) With(id string) string {
	q := url.Values{"b": {id}}
	if p.A != nil {
		q.Set("a", p.A.ID)
	} else {
		q = url.Values{"a": {id}}
	}
	return "/compare?" + q.Encode()
}

// Look is the address of the same comparison, of another stretch of time.
func (p comparePage) Look(from, to time.Duration) string {
	q := url.Values{"a": {p.A.ID}, "b": {p.B.ID}}
	if p.By != "" {
		q.Set("by", p.By)
	}
	if from < to {
		ms := func(d time.Duration) string {
			return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64)
		}
		q.Set("from", ms(from))
		q.Set("to", ms(to))
	}
	return "?" + q.Encode()
}

// Around looks at a difference.
func (p comparePage) Around(d Difference) string {
	room := max(p.Within, 300*time.Millisecond)
	return p.Look(d.Time-2*room, d.Time+3*room)
}

// Whole looks at all of both runs.
func (p comparePage) Whole() string { return p.Look(0, 0) }

// Zoom looks closer, or from further away.
func (p comparePage) Zoom(factor float64) string {
	length := p.To - p.From
	middle := p.From + length/2
	if d := p.First; d != nil && factor < 1 && d.Time >= p.From && d.Time <= p.To {
		middle = d.Time
	}
	half := time.Duration(float64(length) * factor / 2)
	return p.Look(middle-half, middle+half)
}

// Pan looks at what comes earlier, or later.
func (p comparePage) Pan(part float64) string {
	d := time.Duration(float64(p.To-p.From) * part)
	return p.Look(p.From+d, p.To+d)
}
