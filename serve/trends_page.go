package serve

import (
	"cmp"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// trendsPage is how elections went over time, or over versions: a chart for each figure, and all of them in a table.
type trendsPage struct {
	Target  string
	By      string // date or version
	Targets []string
	Charts  []trendChart
	Lines   []chartLine
	Rows    []Trend
	Left    int
}

type trendChart struct {
	Name, Unit, About string
	Body              template.HTML
	ViewBox, Alt      string
}

// figures are what charts show of trends.
var figures = []struct {
	name, unit, about string
	of                func(t *Trend) (middle, high float64)
}{
	{"Without a leader", " s", "the times in which no node led: half are shorter than the dot, 99 in 100 than the end of its line", func(t *Trend) (float64, float64) { return t.LeaderlessP50, t.LeaderlessP99 }},
	{"Failover", " s", "from when a leader’s process stopped until another node led: half, and 99 in 100", func(t *Trend) (float64, float64) { return t.FailoverP50, t.FailoverP99 }},
	{"Elections an hour", "", "how often leadership went to another node", func(t *Trend) (float64, float64) { return t.ElectionsPerHour, t.ElectionsPerHour }},
	{"Findings", "", "properties that were violated", func(t *Trend) (float64, float64) { return float64(t.Findings), float64(t.Findings) }},
}

func (s *Server) trendsPage(w http.ResponseWriter, r *http.Request) {
	q := queryOf(r)
	p := trendsPage{Target: q.Get("target"), By: q.one("by", "date", []string{"date", "version"})}
	if s.refuses(w, r, q) {
		return
	}
	all := s.index.now().runs
	p.Targets = choicesOf(all).Targets
	if p.Target == "" {
		p.Target = busiest(all)
	}
	if !slices.Contains(p.Targets, p.Target) && p.Target != "" {
		p.Targets = append(p.Targets, p.Target)
	}
	p.Rows, p.Left = s.trends(r.Context(), p.Target)
	p.draw()
	slices.Reverse(p.Rows) // the newest first
	f := frame{Title: "Trends", Tab: "trends", Page: p}
	if p.Left > 0 {
		f.Scripts = append(f.Scripts, "again.js")
	}
	s.show(w, r, "trends", f)
}

// busiest is the target with most runs.
func busiest(all []*Run) (target string) {
	counts := map[string]int{}
	for _, r := range all {
		if counts[r.Target]++; counts[r.Target] > counts[target] || target == "" {
			target = r.Target
		}
	}
	return target
}

// draw makes the charts: a line for each version and each campaign of it over time, or a dot for each over the versions.
func (p *trendsPage) draw() {
	var versions []string
	for i := range p.Rows {
		if v := p.Rows[i].Version; !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	slices.SortFunc(versions, natural)
	for _, f := range figures {
		c := chart{unit: f.unit, whole: f.name == "Findings"}
		lines := map[string]int{}
		for i := range p.Rows {
			t := &p.Rows[i]
			name := strings.TrimSpace(t.Version + " " + t.Of)
			at, known := lines[name]
			if !known {
				at = len(c.lines)
				lines[name] = at
				c.lines = append(c.lines, chartLine{Name: name, Colour: slices.Index(versions, t.Version) % 8, Dots: p.By == "version"})
			}
			middle, high := f.of(t)
			if f.unit != "" && high == 0 {
				continue // there was none to measure
			}
			x := float64(t.Time.Unix())
			if p.By == "version" {
				x = float64(slices.Index(versions, t.Version))
			}
			c.lines[at].Points = append(c.lines[at].Points, chartPoint{X: x, Y: middle, High: high, Words: t.Time.Format(time.DateOnly) + ", " + strconv.Itoa(t.Runs) + " runs"})
		}
		if p.By == "version" {
			c.words = versions
		} else {
			c.dates = true
		}
		body, box := c.draw()
		p.Charts = append(p.Charts, trendChart{f.name, f.unit, f.about, body, box, f.name + " of " + p.Target + ", over " + p.By + "s"})
		if len(p.Lines) == 0 {
			p.Lines = c.lines
		}
	}
}

// natural orders versions as people count: 3.4.9 before 3.4.23.
func natural(a, b string) int {
	number := func(s string) (digits, rest string) {
		i := strings.IndexFunc(s, func(c rune) bool { return c < '0' || c > '9' })
		if i < 0 {
			i = len(s)
		}
		return s[:i], s[i:]
	}
	for a != "" && b != "" {
		x, restA := number(a)
		y, restB := number(b)
		if x == "" || y == "" {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
			return c
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}

// apiTrends is GET /api/v1/trends?target=.
func (s *Server) apiTrends(w http.ResponseWriter, r *http.Request) {
	all, left := s.trends(r.Context(), r.URL.Query().Get("target"))
	answer(w, map[string]any{"total": len(all), "left": left, "trends": asList(all)})
}
