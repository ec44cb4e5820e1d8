package serve

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"time"

	"recount/harness/campaign"
	"recount/harness/record"
	"recount/internal/whole"
	"recount/report"
)

// Trend is how the elections of one target in one version went: on one day, by the runs that are kept of it, or in one campaign.
type Trend struct {
	campaign.Trend
	Of string `json:"of,omitempty"` // the campaign, if it is one's
}

// trends are those of all runs that do not belong to a campaign, day by day, and those of the campaigns, in order of time; and how many
// runs are still to be read.
func (s *Server) trends(ctx context.Context, target string) (all []Trend, left int) {
	shot := s.index.now()
	campaigns := map[string]bool{}
	for _, f := range shot.folders("campaign") {
		campaigns[f.ID] = true
		for _, t := range readLines[campaign.Trend](s.fsys, path.Join(f.ID, campaign.TrendsFile)) {
			if target == "" || t.Target == target {
				all = append(all, Trend{t, f.ID})
			}
		}
	}
	var some []*Run
	for _, r := range shot.runs {
		if (target == "" || r.Target == target) && !campaigns[r.Of] && r.Target != "" {
			some = append(some, r)
		}
	}
	have, left := s.digests.of(ctx, some)
	type key struct{ day, target, version string }
	days := map[key]*trendOf{}
	for _, r := range some {
		if d := have[r]; d != nil {
			k := key{r.Started.Format(time.DateOnly), r.Target, r.Edition()}
			if days[k] == nil {
				days[k] = &trendOf{Trend: campaign.Trend{Target: k.target, Version: k.version}, violated: map[string]bool{}}
			}
			days[k].take(r, d)
		}
	}
	for _, t := range days {
		all = append(all, t.settle())
	}
	slices.SortFunc(all, func(a, b Trend) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Of, b.Of))
	})
	return all, left
}

// Edition is the version of what a run tested: the system's, or, where what is tested is part of Recount, Recount's.
func (r *Run) Edition() string {
	if v := r.Options["version"]; v != "" {
		return v
	}
	return "Recount " + cmp.Or(r.Version, "?")
}

// trendOf is a trend being gathered.
type trendOf struct {
	campaign.Trend
	campaign.Measured
	violated map[string]bool
}

func (t *trendOf) take(r *Run, d *digest) {
	t.Runs++
	if r.Started.After(t.Time) {
		t.Time = r.Started
	}
	for _, v := range r.Verdicts {
		if v.Kind != "" {
			t.violated[v.Property] = true
		}
	}
	if len(d.claims) == 0 {
		return
	}
	t.Watched += d.end - d.claims[0].From
	for _, g := range d.gaps() {
		t.Leaderless = append(t.Leaderless, g.Length())
	}
	t.Failovers = append(t.Failovers, d.failovers()...)
	for range d.changes() {
		t.Elections++
	}
}

// failovers are how long it took, each time a leader's process stopped, until another node led.
func (d *digest) failovers() (all []time.Duration) {
	for _, a := range d.away {
		led := slices.ContainsFunc(d.claims, func(c report.Claim) bool { return c.Node == a.node && c.From < a.From && c.To >= a.From })
		others := slices.ContainsFunc(d.claims, func(c report.Claim) bool { return c.Node != a.node && c.From <= a.From && c.To > a.From })
		if !led || others {
			continue
		}
		if i := slices.IndexFunc(d.claims, func(c report.Claim) bool { return c.Node != a.node && c.From > a.From }); i >= 0 {
			all = append(all, d.claims[i].From-a.From)
		}
	}
	return all
}

func (t *trendOf) settle() Trend {
	t.Tell(&t.Trend)
	t.Findings = len(t.violated)
	return Trend{Trend: t.Trend}
}

// gaps are the times in which no node led, from the first leader on.
func (d *digest) gaps() (all []report.Span) {
	if len(d.claims) == 0 {
		return nil
	}
	led := d.claims[0].To
	for _, c := range d.claims[1:] {
		if c.From > led {
			all = append(all, report.Span{From: led, To: c.From})
		}
		led = max(led, c.To)
	}
	if d.end > led && len(d.claims) < mostOfEach {
		all = append(all, report.Span{From: led, To: d.end})
	}
	return all
}

// readLines reads a file of JSON objects, a line each. A line that is none is left out: one may be being written.
func readLines[T any](fsys fs.FS, file string) (all []T) {
	b, err := whole.Read(fsys, file, record.MostJSON)
	if err != nil {
		return nil
	}
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, longest)
	for lines.Scan() {
		var v T
		if json.Unmarshal(lines.Bytes(), &v) == nil {
			all = append(all, v)
		}
	}
	return all
}
