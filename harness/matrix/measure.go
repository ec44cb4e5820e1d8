package matrix

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"recount/checkers"
	"recount/harness"
	"recount/harness/batch"
	"recount/harness/looked"
	"recount/harness/record"
)

// Measure makes the runs of a plan and returns what came of them. It goes seed by seed through all pairs, so that
// whenever it is stopped, all of them were measured about as well. When ctx ends, what was found is returned; an error
// means that the harness failed.
func Measure(ctx context.Context, p Plan, progress func(batch.Progress)) (*Table, error) {
	m := &measurement{Plan: p, progress: progress, started: time.Now(), table: newTable(&p), looking: looked.NewCount()}
	for _, rounds := range []int{maxUnstarted, math.MaxInt32} {
		if err := m.measure(ctx, rounds); err != nil {
			return nil, err
		}
	}
	t := m.table
	t.Took, t.Looked, t.Planted = time.Since(m.started), m.looking.So(), p.planted(m.table)
	switch {
	case ctx.Err() != nil:
		t.Stopped, t.Interrupted = "Interrupted", true
	case p.Budget > 0 && time.Since(m.started) >= p.Budget && (t.Planned == 0 || m.next < t.Planned):
		t.Stopped = fmt.Sprintf("The budget of %v was spent", p.Budget)
	}
	for i := range t.Pairs {
		for k := range t.Pairs[i].Cells {
			t.Pairs[i].Cells[k].settle()
		}
	}
	return t, nil
}

func newTable(p *Plan) *Table {
	t := &Table{
		Version: harness.Version, On: p.On, Started: time.Now(), Planned: p.Seeds * len(p.Rows) * len(p.Columns),
		Rows: p.Rows, Columns: p.Columns,
	}
	for _, c := range checkers.All() {
		t.Properties = append(t.Properties, Property{c.Property, c.Holds})
	}
	for _, r := range p.Rows {
		for _, c := range p.Columns {
			t.Pairs = append(t.Pairs, Pair{Row: r.Word, Column: c.Name, Cells: make([]Cell, len(t.Properties))})
		}
	}
	return t
}

// measurement is a matrix being measured.
type measurement struct {
	Plan
	progress func(batch.Progress)
	started  time.Time
	next     int // run to be made: seed by seed, pair by pair
	table    *Table
	looking  *looked.Count
}

// job is one run to be made.
type job struct {
	number int // from 0, of all, those of pairs without runs included
	pair   int
	row    *Row
	column *Column
	plan   record.Plan
	twice  bool // and compared with itself, in virtual time
}

// made is what came of a job.
type made struct {
	run    *record.Run
	caught []string // properties that a foot-gun has broken
	look   looked.Look
}

// measure makes the runs of all seeds up to so many. Those by which it is told whether a pair has no more are all done before others
// begin, and results are taken in their order: what comes of a matrix does not depend on how many runs are made at once.
func (m *measurement) measure(ctx context.Context, rounds int) error {
	b := batch.Batch[job, made]{Do: m.make, Jobs: m.Jobs, Ordered: true, Ahead: 4 * batch.Workers(m.Jobs)}
	if m.Budget > 0 {
		if b.Budget = m.Budget - time.Since(m.started); b.Budget <= 0 {
			return nil
		}
	}
	for d := range b.Each(ctx, m.jobs(rounds)) {
		if err := m.add(d.Job, d.Result, d.Err); err != nil {
			return err
		}
	}
	return nil
}

// jobs are the runs of the matrix up to so many seeds, without those of pairs that turned out to have none.
func (m *measurement) jobs(rounds int) iter.Seq[job] {
	return func(yield func(job) bool) {
		pairs := len(m.table.Pairs)
		for m.next/pairs < rounds && (m.table.Planned == 0 || m.next < m.table.Planned) {
			if m.barred() {
				return
			}
			n, at := m.next, m.next%pairs
			m.next++
			if m.table.Pairs[at].Barred != "" {
				continue
			}
			r, c := &m.Rows[at/len(m.Columns)], &m.Columns[at%len(m.Columns)]
			if !yield(job{n, at, r, c, m.run(r, c, max(m.First, 1)+uint64(n/pairs)), n%harness.Sample == 0}) {
				return
			}
		}
	}
}

func (m *measurement) make(ctx context.Context, j job) (n made, err error) {
	if n.run, err = harness.Simulate(ctx, j.plan); err == nil && j.twice {
		err = harness.Twice(ctx, n.run)
	}
	if err == nil && j.row.FootGun() {
		n.caught, err = m.caught(ctx, j, n.run)
	}
	if err == nil {
		n.look = looked.Of(n.run, nil)
	}
	return n, err
}

// barred reports whether no pair can have a run.
func (m *measurement) barred() bool {
	for i := range m.table.Pairs {
		if m.table.Pairs[i].Barred == "" {
			return false
		}
	}
	return true
}

// caught returns what a foot-gun has broken in a run: what it is there to break, and what the same run without it leaves
// whole. A promise of the target's needs no such run.
func (m *measurement) caught(ctx context.Context, j job, with *record.Run) (properties []string, err error) {
	var without *record.Run
	for i := range with.Verdicts {
		v := &with.Verdicts[i]
		if v.Verdict != checkers.Invalid || v.Excused || !slices.Contains(j.row.Breaks, v.Property) {
			continue
		}
		promised, _ := j.row.found.Promised(j.row.without.options, v.Property)
		if !promised {
			if without == nil {
				if without, err = harness.Simulate(ctx, m.run(j.row.without, j.column, j.plan.Seed)); err != nil {
					return nil, err
				}
			}
			if ctx.Err() != nil { // it may have been cut short, and shows nothing then
				return nil, nil
			}
			if without.Verdicts[i].Verdict == checkers.Invalid {
				continue
			}
		}
		properties = append(properties, v.Property)
	}
	return properties, nil
}

// add takes in what came of a run.
func (m *measurement) add(j job, n made, err error) error {
	pair, r := &m.table.Pairs[j.pair], n.run
	var crash *batch.Panic
	switch {
	case harness.IsUsage(err):
		pair.Barred = err.Error()
		return nil
	case errors.As(err, &crash):
		return fmt.Errorf("%s: %w", j.plan.Command(), err)
	case harness.DidNotStart(err) != nil:
		m.table.fail(pair, j.plan, err)
		return nil
	case err != nil:
		return err
	case !r.Frame().Complete() && r.Verdict(harness.NoProgress) == nil: // it was cut short from outside, and shows nothing
		return nil
	}
	if len(r.Verdicts) > len(m.table.Properties) {
		m.table.widen(Property{harness.NoProgress, "nodes do not work without end"})
	}
	pair.Runs++
	m.table.Runs++
	m.looking.Add(r.Target, n.look)
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		pair.Cells[i].add(v, slices.Contains(n.caught, v.Property), j.plan)
		if v.Meaning().Missed() {
			m.table.miss(v, j.plan)
		}
	}
	now := batch.Progress{Doing: "running", Done: j.number + 1, Planned: m.table.Planned, Passed: time.Since(m.started)}
	m.progress(now.Estimate(m.Budget))
	return nil
}

// fail takes note of a run that did not start. A pair of which none does has no more.
func (t *Table) fail(pair *Pair, p record.Plan, err error) {
	pair.unstarted++
	if pair.Runs == 0 && pair.unstarted >= maxUnstarted {
		pair.Barred = err.Error()
	}
	if t.Unstarted == nil {
		t.Unstarted = &Unstarted{Seed: p.Seed, Nodes: p.Nodes, Command: p.Command(), Why: err.Error()}
	}
	t.Unstarted.Runs++
}

// maxUnstarted is how many runs of a pair must not have started, and none have, until it has no more: as many as take all the sizes of
// clusters in turn.
const maxUnstarted = 6

// widen adds a property that runs put to the test now and then. It comes last, in a run's verdicts as well.
func (t *Table) widen(p Property) {
	t.Properties = append(t.Properties, p)
	for i := range t.Pairs {
		t.Pairs[i].Cells = append(t.Pairs[i].Cells, Cell{})
	}
}

// add takes in what came of the property in one run, and whether it caught a foot-gun.
func (c *Cell) add(v *record.Verdict, caught bool, p record.Plan) {
	c.Promised, c.While = c.Promised || v.Promised, v.While
	switch {
	case v.Verdict == checkers.Valid:
		c.Valid++
	case v.Verdict == checkers.Invalid:
		broken := v.Promised && v.Meaning().Fails()
		told, tells := c.Broken+c.Caught > 0, broken || caught
		if c.Invalid == 0 || tells && !told || tells == told && p.Seed < c.Seed {
			c.Seed, c.Why, c.Command = p.Seed, v.Why, p.Command()
		}
		c.Invalid++
		c.Broken += one(broken)
		c.Caught += one(caught)
	case v.Untested:
		c.Untested++
	default:
		c.Unknown++
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// settle decides what the runs of a cell come to.
func (c *Cell) settle() {
	switch {
	case c.Broken > 0:
		c.Verdict = Broken
	case c.Invalid > 0:
		c.Verdict = Weak
	case c.Valid > 0:
		c.Verdict = Valid
	case c.Unknown > 0:
		c.Verdict = Unknown
	}
}

// miss takes note of a scenario that did not show what it is there to show.
func (t *Table) miss(v *record.Verdict, p record.Plan) {
	for i := range t.Missed {
		m := &t.Missed[i]
		if m.Scenario == p.Scenario && m.Property == v.Property {
			m.Runs++
			if p.Seed < m.Seed {
				m.Seed, m.Command, m.Got = p.Seed, p.Command(), v.Verdict.String()
			}
			return
		}
	}
	t.Missed = append(t.Missed, Missed{
		Scenario: p.Scenario, Property: v.Property, Expected: v.Expect.String(), Got: v.Verdict.String(),
		Runs: 1, Seed: p.Seed, Command: p.Command(),
	})
}
