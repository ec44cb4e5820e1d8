package recounttest

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"recount/checkers"
	"recount/harness"
	"recount/harness/record"
	"recount/internal/hint"
)

// Option says something of a run that its target and its scenario leave open.
type Option func(*config)

// config is what all options come to.
type config struct {
	record.Plan
	seeds    []uint64
	attempts int
	results  string
	expect   map[string]checkers.Verdict
	empty    string // an option that names nothing
}

// Seeds makes a run for each seed. Without it there is one run, with the scenario's seed or else 1: a test is to test the
// same every time.
func Seeds(seeds ...uint64) Option {
	return func(c *config) { c.seeds = append([]uint64{}, seeds...) }
}

// Set gives an option of the target a value, as --opt does.
func Set(name, value string) Option {
	return func(c *config) {
		if c.Options == nil {
			c.Options = map[string]string{}
		}
		c.Options[name] = value
	}
}

// Nodes is the size of the cluster.
func Nodes(n int) Option { return func(c *config) { c.Nodes = n } }

// For is how long the run lasts, from the first leader to the final healing.
func For(d time.Duration) Option { return func(c *config) { c.Time = d } }

// Faults are the faults to draw a schedule from, in the place of a scenario's.
func Faults(names ...string) Option {
	return func(c *config) { c.Faults = c.named("Faults", names) }
}

// Workloads are what clients do besides observing, as "recount list workloads" names it: "fence".
func Workloads(names ...string) Option {
	return func(c *config) { c.Workloads = c.named("Workloads", names) }
}

// Require makes properties count as promised.
func Require(properties ...string) Option {
	return func(c *config) { c.Require = append(c.Require, c.named("Require", properties)...) }
}

// named are the names that an option gives. One that gives none is noted: it would ask for less than it seems to.
func (c *config) named(option string, names []string) []string {
	if len(names) == 0 {
		c.empty = option
	}
	return names
}

// Expect says what will come of a property: a test that shows a weakness expects checkers.Invalid.
func Expect(property string, v checkers.Verdict) Option {
	return func(c *config) {
		if c.expect == nil {
			c.expect = map[string]checkers.Verdict{}
		}
		c.expect[property] = v
	}
}

// OnDocker makes the run on containers. The test is skipped where no container engine answers, but not where the
// environment variable CI is set. The package's TestMain must call Main.
func OnDocker() Option { return func(c *config) { c.On = record.OnDocker } }

// OnVirtual makes the run in virtual time, of a server that is all Go: Recount builds it, with a standard library that asks
// the run for the time. The same seed gives the same run, and the go command is all that it takes.
func OnVirtual() Option { return func(c *config) { c.On = record.OnVirtual } }

// Attempts makes a run again that decided nothing, or did not show a violation that was expected, up to n runs in all: on
// containers a machine may be too busy to keep time.
func Attempts(n int) Option { return func(c *config) { c.attempts = max(n, 1) } }

// Results is the folder for runs that did not hold, in the place of results.
func Results(dir string) Option { return func(c *config) { c.results = dir } }

// plans are the runs to make, one for each seed.
func (c *config) plans(target, scenario string) ([]record.Plan, error) {
	if c.empty != "" {
		return nil, hint.Add(fmt.Errorf("%s names nothing", c.empty), "leave it out, or name something")
	}
	p, seeds := c.Plan, c.seeds
	p.Target = target
	if p.On == "" {
		p.On = record.OnSim
	}
	if scenario != "" {
		s, err := harness.LoadScenario(scenario)
		if err != nil {
			return nil, err
		}
		if p = s.Plan(p); seeds == nil && s.Seed != nil {
			seeds = []uint64{*s.Seed}
		}
	}
	p.Options = merged(p.Options, c.Options)
	p.Expect = merged(p.Expect, c.expect)
	if len(c.Workloads) > 0 {
		p.Workloads, p.Unfit = c.Workloads, nil
	}
	if len(c.Faults) > 0 {
		p.Faults, p.Schedule, p.Expect = c.Faults, nil, c.expect
	}
	switch {
	case seeds == nil:
		seeds = []uint64{1}
	case len(seeds) == 0:
		return nil, hint.Add(errors.New("Seeds has none, so there would be no run"), "leave it out, or name some")
	}
	var all []record.Plan
	for _, p.Seed = range seeds {
		all = append(all, p)
	}
	return all, harness.Check(p)
}

// merged is a map with another's entries in the place of its own.
func merged[V any](m, with map[string]V) map[string]V {
	if len(with) == 0 {
		return m
	}
	all := map[string]V{}
	maps.Copy(all, m)
	maps.Copy(all, with)
	return all
}

// name is the subtest's: "raft/ping-pong/scale=2/sim/seed=1".
func (c *config) name(target, scenario string, seed uint64) string {
	base := func(word string) string {
		return strings.TrimSuffix(filepath.Base(word), ".yaml")
	}
	words := []string{base(target)}
	if scenario != "" {
		words = append(words, base(scenario))
	}
	if len(c.Faults) > 0 {
		words = append(words, strings.Join(c.Faults, ","))
	}
	for _, k := range slices.Sorted(maps.Keys(c.Options)) {
		words = append(words, k+"="+filepath.Base(c.Options[k])) // of a path its end: it may lie elsewhere next time
	}
	on := c.On
	if on == "" {
		on = record.OnSim
	}
	return strings.Join(append(words, on, fmt.Sprintf("seed=%d", seed)), "/")
}
