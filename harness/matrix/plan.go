package matrix

import (
	"errors"
	"fmt"
	"maps"

	"recount/harness"
	"recount/harness/batch"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/workloads"
)

// Check finds what is wrong with a plan.
func (p *Plan) Check() error {
	for _, w := range p.Workloads {
		if _, err := workloads.Find(w); err != nil {
			return err
		}
	}
	for _, n := range p.Nodes {
		if err := harness.CheckSize(n); err != nil {
			return err
		}
	}
	switch {
	case p.On == record.OnDocker:
		return hint.Add(errors.New("no matrix is made on containers, which take a minute where it takes thousands of runs"),
			"recount run --suite FILE goes through targets, scenarios and seeds there, and recount hunt --on docker through faults")
	case p.On != record.OnSim && p.On != record.OnVirtual:
		return hint.Unknown("place for a matrix", p.On, []string{record.OnSim, record.OnVirtual})
	case len(p.Rows) == 0 || len(p.Columns) == 0:
		return hint.Add(fmt.Errorf("nothing to measure"), "name an election, and a fault or a scenario")
	case len(p.Nodes) == 0:
		return hint.Add(fmt.Errorf("no size for the clusters"), "--nodes 3,4,5")
	case p.Seeds < 0 || p.Seeds == 0 && p.Budget <= 0:
		return hint.Add(fmt.Errorf("%d seeds", p.Seeds), "take one or more, or a --budget of time")
	case p.Time < 0 || p.Budget < 0:
		return hint.Add(fmt.Errorf("time %v, budget %v", p.Time, p.Budget), "times are positive")
	case p.Jobs < 1:
		return hint.Add(fmt.Errorf("%d runs at a time", p.Jobs), "take one or more")
	}
	return nil
}

// Seeds is how many runs there are of each row and column, where nobody says.
const Seeds = 6

// Sizes are those of their clusters then.
var Sizes = []int{3, 4, 5}

// Default is the plan where nothing is said but for the rows: every fault and every scenario, in the simulator.
func Default(rows []Row) (Plan, error) {
	columns, err := ParseColumns([]string{AllColumns}, []string{AllColumns})
	return Plan{
		On: record.OnSim, Rows: rows, Columns: columns, Seeds: Seeds, First: 1, Nodes: Sizes, Workloads: workloads.Serving(""),
		Jobs: batch.Workers(0),
	}, err
}

// run is the plan of one run.
func (p *Plan) run(r *Row, c *Column, seed uint64) record.Plan {
	if c.scenario != nil {
		run := c.scenario.Plan(record.Plan{Target: r.Target, On: p.On, Seed: seed})
		own := run.Options
		if run.Options = r.over(own); !maps.Equal(own, run.Options) {
			run.Expect = nil // that was expected of the target as the scenario has it
		}
		return run
	}
	run := record.Plan{
		Target: r.Target, Options: r.Options, On: p.On, Nodes: p.Nodes[seed%uint64(len(p.Nodes))], Time: p.Time, Seed: seed,
		Faults: c.faults, Workloads: harness.Applicable(p.Workloads, r.found),
	}
	if c.all {
		run.Faults = harness.Drawn(r.Target, r.Options, p.On)
	}
	if run.Time == 0 {
		run.Time = r.time()
	}
	return run
}
