package matrix

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"recount/checkers"
	"recount/harness"
	"recount/harness/record"
)

// Progress is how far the work is.
type Progress struct {
	Doing   string // "running", "keeping"
	Done    int
	Planned int           // 0 if nobody knows
	Passed  time.Duration // real time
	Left    time.Duration // as it looks now; 0 if nobody knows
}

// Measure makes the runs of a plan and returns what came of them. It goes seed by seed through all pairs, so that
// whenever it is stopped, all of them were measured about as well. When ctx ends, what was found is returned; an error
// means that the harness failed.
func Measure(ctx context.Context, p Plan, progress func(Progress)) (*Table, error) {
	m := &measurement{
		Plan: p, ctx: ctx, progress: progress, started: time.Now(),
		pairs: len(p.Rows) * len(p.Columns), table: newTable(&p),
	}
	var wg sync.WaitGroup
	for range p.Jobs {
		wg.Go(m.work)
	}
	wg.Wait()
	if m.failed != nil {
		return nil, m.failed
	}
	t := m.table
	t.Took = time.Since(m.started)
	switch {
	case ctx.Err() != nil:
		t.Stopped, t.Interrupted = "Interrupted", true
	case m.spent() && (t.Planned == 0 || m.next < t.Planned):
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
		Version: harness.Version, Started: time.Now(), Planned: p.Seeds * len(p.Rows) * len(p.Columns),
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

// measurement is a matrix being measured by several goroutines.
type measurement struct {
	Plan
	ctx      context.Context
	progress func(Progress)
	started  time.Time
	pairs    int

	mu     sync.Mutex
	next   int // run to be made: seed by seed, pair by pair
	table  *Table
	failed error
}

// work makes one run after another.
func (m *measurement) work() {
	for {
		n, ok := m.take()
		if !ok {
			return
		}
		r, c := &m.Rows[n%m.pairs/len(m.Columns)], &m.Columns[n%m.pairs%len(m.Columns)]
		plan := m.run(r, c, max(m.First, 1)+uint64(n/m.pairs))
		rep, err := simulate(m.ctx, plan)
		var caught []string
		if err == nil && r.FootGun() {
			caught, err = m.caught(r, c, plan, rep)
		}
		m.add(&m.table.Pairs[n%m.pairs], plan, rep, caught, err)
	}
}

// take returns the number of the next run, if there is to be one.
func (m *measurement) take() (n int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.pairs > 0 && m.table.Pairs[m.next%m.pairs].Barred != "" {
		m.next++
		if m.barred() {
			return 0, false
		}
	}
	planned := m.table.Planned
	if m.ctx.Err() != nil || m.failed != nil || m.pairs == 0 || planned > 0 && m.next >= planned || m.spent() {
		return 0, false
	}
	n = m.next
	m.next++
	return n, true
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

func (m *measurement) spent() bool { return m.Budget > 0 && time.Since(m.started) >= m.Budget }

// simulate makes a run. A crash of the algorithm is a failure with a way back to it.
func simulate(ctx context.Context, p record.Plan) (r *record.Run, err error) {
	defer func() {
		if crash := recover(); crash != nil {
			err = fmt.Errorf("matrix: %s: %v\n%s", p.Command(), crash, debug.Stack())
		}
	}()
	return harness.Simulate(ctx, p)
}

// caught returns what a foot-gun has broken in a run: what it is there to break, and what the same run without it leaves
// whole. A promise of the target's needs no such run.
func (m *measurement) caught(r *Row, c *Column, p record.Plan, with *record.Run) (properties []string, err error) {
	var without *record.Run
	for i := range with.Verdicts {
		v := &with.Verdicts[i]
		if v.Verdict != checkers.Invalid || v.Excused || !slices.Contains(r.Breaks, v.Property) {
			continue
		}
		promised, _ := r.found.Promised(r.without.options, v.Property)
		if !promised {
			if without == nil {
				if without, err = simulate(m.ctx, m.run(r.without, c, p.Seed)); err != nil {
					return nil, err
				}
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
func (m *measurement) add(pair *Pair, p record.Plan, r *record.Run, caught []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case harness.IsUsage(err):
		pair.Barred = err.Error()
		return
	case err != nil:
		m.failed = err
		return
	case !r.History.Complete(): // it was cut short, and shows nothing
		return
	}
	pair.Runs++
	m.table.Runs++
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		pair.Cells[i].add(v, slices.Contains(caught, v.Property), p)
		if v.Meaning().Missed() {
			m.table.miss(v, p)
		}
	}
	m.tell()
}

// tell reports how far the measurement is.
func (m *measurement) tell() {
	now := Progress{Doing: "running", Done: m.next, Planned: m.table.Planned, Passed: time.Since(m.started)}
	if now.Planned > 0 {
		now.Left = time.Duration(float64(now.Passed) * float64(now.Planned-now.Done) / float64(now.Done))
	}
	if m.Budget > 0 && (now.Planned == 0 || m.Budget-now.Passed < now.Left) {
		now.Left = max(m.Budget-now.Passed, 0)
	}
	m.progress(now)
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
