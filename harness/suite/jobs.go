package suite

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"recount/harness"
	"recount/harness/record"
	"recount/internal/hint"
)

// Shard is one part of a suite that is split: number Number, from 1, of Of.
type Shard struct{ Number, Of int }

// ParseShard reads "2/3".
func ParseShard(text string) (s Shard, err error) {
	number, of, ok := strings.Cut(text, "/")
	if ok {
		s.Number, err = strconv.Atoi(number)
		if err == nil {
			s.Of, err = strconv.Atoi(of)
		}
	}
	if !ok || err != nil || s.Number < 1 || s.Number > s.Of {
		return s, hint.Add(fmt.Errorf("--shard %q: want number/of", text),
			"--shard 1/3, --shard 2/3 and --shard 3/3 together make the whole suite")
	}
	return s, nil
}

// has reports whether the job at that place in the suite belongs to the shard. Of each block of Of jobs every
// shard gets one, and not the same one of each.
func (s Shard) has(i int) bool { return s.Of < 2 || (i+i/s.Of)%s.Of == s.Number-1 }

// job is one run to be made.
type job struct {
	target   *Target
	scenario *Scenario
	plan     record.Plan
	repeat   string
}

// jobs are all runs of the suite, in an order that the file alone decides: seed by seed through all pairs of a scenario and
// a target, so that wherever the suite ends all of them were tried about as often.
func (s *Suite) jobs() (all []job, err error) {
	for round, more := 0, true; more; round++ {
		more = false
		for ci := range s.Scenarios {
			c := &s.Scenarios[ci]
			seeds := c.Seeds
			if len(seeds) == 0 {
				seeds = s.Seeds
			}
			if round >= len(seeds) {
				continue
			}
			more = true
			for ti := range s.Targets {
				t := &s.Targets[ti]
				if len(c.Targets) > 0 && !slices.Contains(c.Targets, t.Name) {
					continue
				}
				j := job{target: t, scenario: c}
				if err := j.prepare(s, seeds[round]); err != nil {
					return nil, harness.Usage(fmt.Errorf("%s: %s on %s: %w", s.File, c.Name, t.Name, hint.InFile(err)))
				}
				all = append(all, j)
			}
		}
	}
	return all, nil
}

func (j *job) prepare(s *Suite, seed uint64) error {
	t, c := j.target, j.scenario
	p := record.Plan{
		Target: t.Target, On: cmp.Or(t.On, s.On), Nodes: cmp.Or(t.Nodes, c.Nodes), Time: c.Time, Seed: seed,
		Require: slices.Concat(s.Require, t.Require),
	}
	words := []string{"recount", "run"}
	if c.Scenario != "" {
		scenario, err := harness.LoadScenario(c.Scenario)
		if err != nil {
			return err
		}
		p = scenario.Plan(p)
		words = append(words, record.Quote(c.Scenario))
	} else {
		p.Faults = c.Faults
		words = append(words, "--nemesis", strings.Join(c.Faults, ","))
	}
	p.Nodes, p.Time = cmp.Or(p.Nodes, s.Nodes), cmp.Or(p.Time, s.Time)
	if len(t.Options) > 0 {
		if options := maps.Clone(p.Options); options != nil {
			maps.Copy(options, t.Options)
			p.Options = options
		} else {
			p.Options = t.Options
		}
		p.Expect = nil // of a target as it is, not of one with other options
	}
	workloads := c.Workloads
	if workloads == nil {
		workloads = s.Workloads
	}
	if workloads != nil {
		p.Workloads, p.Unfit = workloads, nil
		words = append(words, "--workload", cmp.Or(strings.Join(workloads, ","), "observe"))
	}
	add := func(name, value string) { words = append(words, "--"+name, record.Quote(value)) }
	add("target", t.Target)
	for _, k := range slices.Sorted(maps.Keys(t.Options)) {
		add("opt", k+"="+t.Options[k])
	}
	if p.On != record.OnSim {
		add("on", p.On)
	}
	if p.Nodes > 0 {
		add("nodes", strconv.Itoa(p.Nodes))
	}
	if p.Time > 0 {
		add("time", p.Time.String())
	}
	if required := slices.Concat(s.Require, t.Require); len(required) > 0 {
		add("require", strings.Join(required, ","))
	}
	add("seed", strconv.FormatUint(seed, 10))
	j.plan, j.repeat = p, strings.Join(words, " ")
	return harness.Check(p)
}
