package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"recount/harness"
	"recount/harness/estimate"
	"recount/harness/record"
	"recount/history"
	"recount/internal/seed"
)

// Trend is how an election of one version did, to be set beside other versions. Hunted runs cannot be: they are drawn by what
// they find. So these figures come of a yardstick: runs with faults drawn by seeds that never change.
//
// An edition has one for each target: to make it again adds none.
type Trend struct {
	Time             time.Time `json:"time"`
	Edition          string    `json:"edition"`
	Target           string    `json:"target"`
	Version          string    `json:"version"`
	Commit           string    `json:"commit"`
	LeaderlessP50    float64   `json:"leaderless_p50"` // seconds: of the times in which no node led
	LeaderlessP99    float64   `json:"leaderless_p99"`
	FailoverP50      float64   `json:"failover_p50"` // seconds, from when the leader was stopped until another node led
	FailoverP99      float64   `json:"failover_p99"`
	ElectionsPerHour float64   `json:"elections_per_hour"`
	Findings         int       `json:"findings"`
	Runs             int       `json:"runs"` // hunted
}

// Measured is what runs showed that a trend tells of.
type Measured struct {
	Leaderless []time.Duration `json:"leaderless"`
	Failovers  []time.Duration `json:"failovers"`
	Elections  int             `json:"elections"`
	Watched    time.Duration   `json:"watched"`
}

// yardstick is how many runs are measured.
const yardstick = 30

// trends measures each target of which runs repeat: those in real time would take an hour.
func (w *runner) trends(ctx context.Context) (all []Trend, err error) {
	now := time.Now().UTC().Truncate(time.Second)
	for _, s := range w.subjects {
		m, ok, err := w.measured(ctx, s)
		if err != nil {
			return all, err
		}
		if !ok {
			continue
		}
		t := Trend{Time: now, Edition: w.edition(), Target: s.target.Name, Version: s.target.Version, Commit: w.Commit, Runs: s.sum.started(),
			Findings: len(s.findings(w.Folder))}
		m.Tell(&t)
		all = append(all, t)
	}
	return all, nil
}

// measureAll makes the runs that trends tell of, as many as the budget lets it.
func (w *runner) measureAll(ctx context.Context) error {
	for _, s := range w.subjects {
		if _, _, err := w.measured(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// measured is what the yardstick says of a subject; false of one whose runs do not repeat, and where the budget is spent before.
func (w *runner) measured(ctx context.Context, s *subject) (m Measured, ok bool, err error) {
	if !s.target.repeats() {
		return m, false, nil
	}
	err = within(ctx, w.until, func(ctx context.Context) (err error) {
		m, err = w.measure(ctx, s)
		return err
	})
	if errors.Is(err, errSpent) {
		return m, false, nil
	}
	return m, err == nil, err
}

// Tell has a trend tell of what was measured.
func (m *Measured) Tell(t *Trend) {
	t.LeaderlessP50, t.LeaderlessP99 = percentile(m.Leaderless, 0.5), percentile(m.Leaderless, 0.99)
	t.FailoverP50, t.FailoverP99 = percentile(m.Failovers, 0.5), percentile(m.Failovers, 0.99)
	if m.Watched > 0 {
		t.ElectionsPerHour = float64(m.Elections) / m.Watched.Hours()
	}
}

// putTrends adds trends to a file, in the place of those of the same edition that tell of other runs: of more, or of fewer.
func putTrends(file string, more []Trend) error {
	all, err := readRows[Trend](file)
	if err != nil {
		return err
	}
	changed := false
	for _, t := range more {
		at := slices.IndexFunc(all, func(old Trend) bool { return old.Edition == t.Edition && old.Target == t.Target })
		switch {
		case at < 0:
			all = append(all, t)
		case all[at].Runs != t.Runs:
			all = append(slices.Delete(all, at, at+1), t)
		default:
			continue
		}
		changed = true
	}
	if !changed {
		return nil
	}
	return putRows(file, all)
}

// measure makes the yardstick's runs of a subject, unless they were made.
func (w *runner) measure(ctx context.Context, s *subject) (m Measured, err error) {
	at := "yardstick/" + s.id
	text, err := w.Store.Get(ctx, at)
	if err == nil {
		return m, json.Unmarshal(text, &m)
	}
	if !missing(err) {
		return m, err
	}
	for i := range yardstick {
		p := record.Plan{Target: s.target.Target, On: s.On, Nodes: s.Nodes[0] + i%(s.Nodes[1]-s.Nodes[0]+1), Faults: s.Faults,
			Options: map[string]string{}, Seed: seed.New(0, fmt.Sprintf("yardstick %d", i)).Uint64() >> 32}
		for name, values := range s.Options {
			p.Options[name] = values[0]
		}
		r, err := w.run(ctx, p)
		if harness.DidNotStart(err) != nil {
			continue // the figures are of those that did
		}
		if err != nil {
			return m, err
		}
		if ctx.Err() != nil {
			return m, ctx.Err()
		}
		m.watch(r.History)
	}
	if text, err = json.Marshal(m); err == nil {
		err = w.Store.Put(ctx, at, text)
	}
	return m, err
}

// watch measures a run, from when it has settled on its first leader until its end. A node leads from when it says so until it
// says otherwise, or is stopped.
func (m *Measured) watch(h *history.History) {
	leads := map[string]bool{}
	settled, last := false, ""
	var since, stopped, from, to time.Duration
	vacate := func(node string, at time.Duration) {
		if leads[node] {
			if delete(leads, node); len(leads) == 0 {
				since = at
			}
		}
	}
	for i := range h.Ops {
		op := &h.Ops[i]
		to = op.Time
		switch {
		case op.F == history.Settle && !settled:
			settled, from, since = true, op.Time, op.Time
		case op.Type != history.OK:
		case (op.F == history.Observe || op.F == history.Announce) && !op.View.Claims():
			vacate(op.Node, op.Time)
		case op.F == history.Observe || op.F == history.Announce:
			if settled && len(leads) == 0 && op.Time > since {
				m.Leaderless = append(m.Leaderless, op.Time-since)
			}
			if !leads[op.Node] { // an old leader that does not know may go on saying so
				if settled && last != "" && op.Node != last {
					m.Elections++
					if stopped > 0 {
						m.Failovers = append(m.Failovers, op.Time-stopped)
					}
				}
				last, stopped, leads[op.Node] = op.Node, 0, true
			}
		case op.Fault != nil:
			for _, p := range op.Fault.Procs {
				if p.State != history.Up {
					if settled && leads[p.Node] && p.Node == last {
						stopped = op.Time
					}
					vacate(p.Node, op.Time)
				}
			}
		}
	}
	if settled {
		m.Watched += to - from
	}
}

// percentile is, in seconds, the time that a share of all does not exceed; 0 of none.
func percentile(all []time.Duration, share float64) float64 {
	at, _ := estimate.Quantile(all, share)
	return at.Seconds()
}
