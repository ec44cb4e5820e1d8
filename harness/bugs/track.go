// Package bugs holds the published bugs of real elections that Recount makes happen, and measures how reliably it does:
// so many runs of each on what the bug affects, and as many on a control that has it fixed.
package bugs

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"recount/harness"
	"recount/harness/record"
	"recount/internal/hint"
)

// Row is one bug. Its scenario is scenarios/track/<Name>.yaml, which says what the bug affects: target and options. Or it is a file of
// Recount's own folder, beside one that describes the target: what that runs is built from the sources there.
type Row struct {
	Name     string
	Bug      string   // one sentence: what went wrong
	Sources  []string // pages that report it
	Property string   // what it breaks, and what is counted
	Also     []string // what it may break besides
	On       []string // where its runs are made: record.OnDocker, record.OnSim, record.OnVirtual
	Affected string   // what the scenario runs, in words: "etcd 3.4.23"
	// Virtual is the version that takes the place of the scenario's in virtual time, where that one cannot be built: it comes as a
	// package of Debian's. "" is the same.
	Virtual  string
	Controls []Control
	File     string            // of the scenario, from Recount's folder: "examples/river/slow.yaml"; "" for one that the program has
	Options  map[string]string // of what the bug affects, where the scenario is a file
}

// Control is the same scenario on something that does not have the bug.
type Control struct {
	About     string            // in words: "etcd 3.4.23, pre-vote on"
	Target    string            // "" is the scenario's own
	Options   map[string]string // on top of the scenario's, if the target is its own
	Workloads []string          // in the place of the scenario's, if there are any
}

var registry []Row

// register adds rows; a name registered twice is a programming error.
func register(rows ...Row) {
	for _, r := range rows {
		if slices.ContainsFunc(registry, func(o Row) bool { return o.Name == r.Name }) {
			panic("track: registered twice: " + r.Name)
		}
		registry = append(registry, r)
	}
}

// All returns every row, sorted by name: those of one system stand together.
func All() []Row {
	return slices.SortedFunc(slices.Values(registry), func(a, b Row) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
}

// Find returns the rows of these names, or all if there are none.
func Find(names []string) ([]Row, error) {
	all := All()
	if len(names) == 0 {
		return all, nil
	}
	var rows []Row
	for _, n := range names {
		i := slices.IndexFunc(all, func(r Row) bool { return r.Name == n })
		if i < 0 {
			var known []string
			for _, r := range all {
				known = append(known, r.Name)
			}
			return nil, hint.Unknown("row", n, known)
		}
		rows = append(rows, all[i])
	}
	return rows, nil
}

// Scenario is the row's scenario, as "recount run" takes it.
func (r Row) Scenario() string {
	if r.File != "" {
		return r.File
	}
	return "track/" + r.Name
}

// target is the file that describes what a row runs; "" where its scenario names it.
func (r Row) target() string {
	if r.File == "" {
		return ""
	}
	return filepath.ToSlash(filepath.Join(filepath.Dir(r.File), "election.yaml"))
}

// Here finds out whether what the row runs can be made here: of a file that is so in Recount's folder alone.
func (r Row) Here() error {
	if r.File == "" {
		return nil
	}
	if _, err := os.Stat(r.File); err != nil {
		return hint.Add(fmt.Errorf("row %s: %w", r.Name, err), "it is built from sources: run it in Recount's own folder")
	}
	return nil
}

// side is one way to run a row's scenario: on what the bug affects, or on a control.
type side struct {
	Control
	on      string
	control bool
}

// sides are all of a row's, what the bug affects before the controls.
func (r Row) sides() (all []side, err error) {
	version := ""
	if r.Virtual != "" {
		s, err := harness.LoadScenario(r.Scenario())
		if err != nil {
			return nil, err
		}
		version = s.Plan(record.Plan{}).Options["version"]
	}
	for _, on := range r.On {
		in := ""
		switch on {
		case record.OnSim:
			in = ", simulated"
		case record.OnVirtual:
			in = ", in virtual time"
		}
		for i, c := range append([]Control{{About: r.Affected, Options: r.Options}}, r.Controls...) {
			if on == record.OnVirtual && r.Virtual != "" && c.Target == "" && c.Options["version"] == "" {
				c.About = strings.Replace(c.About, version, r.Virtual, 1)
				c.Options = maps.Clone(c.Options)
				if c.Options == nil {
					c.Options = map[string]string{}
				}
				c.Options["version"] = r.Virtual
			}
			c.About += in
			all = append(all, side{c, on, i > 0})
		}
	}
	return all, nil
}

// plans are so many runs of one side, with the seeds from 1.
func (r Row) plans(c side, runs int) (all []record.Plan, err error) {
	for seed := range uint64(runs) {
		p, err := r.plan(c, seed+1)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// plan is a run of one side.
func (r Row) plan(c side, seed uint64) (record.Plan, error) {
	s, err := harness.LoadScenario(r.Scenario())
	if err != nil {
		return record.Plan{}, err
	}
	p := s.Plan(record.Plan{Target: cmp.Or(c.Target, r.target()), On: c.on, Seed: seed})
	if p.Options == nil {
		p.Options = map[string]string{}
	}
	maps.Copy(p.Options, c.Options)
	if len(c.Workloads) > 0 {
		p.Workloads, p.Unfit = c.Workloads, nil
	}
	return p, harness.Check(p)
}

// command is what a person types to make one run of a side.
func (r Row) command(c side) string {
	line := "recount run " + r.Scenario()
	if c.on != record.OnSim {
		line += " --on " + c.on
	}
	if target := cmp.Or(c.Target, r.target()); target != "" {
		line += " --target " + target
	}
	for _, k := range slices.Sorted(maps.Keys(c.Options)) {
		line += " --opt " + record.Quote(k+"="+c.Options[k])
	}
	for _, w := range c.Workloads {
		line += " --workload " + w
	}
	return line
}
