package matrix

import (
	"slices"

	"recount/harness"
	"recount/internal/hint"
	"recount/nemesis"
	"recount/scenarios"
)

// Column is what is done to elections: nothing, one fault again and again, all faults at random, or a scenario.
type Column struct {
	Name  string `json:"name"`
	Kind  Kind   `json:"kind"`
	About string `json:"about"`

	faults   []string
	all      bool // all faults that can take effect on the row's target
	scenario *harness.Scenario
}

// Kind is what sort of column it is.
type Kind string

// The kinds of columns.
const (
	Drawn   Kind = "faults"   // drawn by the seed
	Written Kind = "scenario" // in a file
)

// Words for columns besides the names of faults and scenarios.
const (
	NoFaults   = "none"  // as a column: nothing is done to the election
	Everything = "mixed" // as a column: all faults, drawn at random
	AllColumns = "all"   // every column of the kind, but for what spoils a run
)

// spoils tells of a fault that is a column only where it is named: after it no election that keeps anything can be held to its promises, or
// no run is possible but in containers, or of a target that describes such.
func spoils(f *nemesis.Fault) bool { return f.Named && f.Disks || f.Contained || f.Own }

// ParseColumns looks up columns by the names of faults and of scenarios.
func ParseColumns(faults, names []string) (columns []Column, err error) {
	var known []string
	for _, f := range nemesis.All() {
		known = append(known, f.Name)
	}
	for _, w := range faults {
		switch w {
		case AllColumns:
			columns = append(columns, nothing())
			for _, f := range nemesis.All() {
				if !spoils(f) {
					columns = append(columns, drawn(f.Name))
				}
			}
			columns = append(columns, mixed())
		case NoFaults:
			columns = append(columns, nothing())
		case Everything:
			columns = append(columns, mixed())
		default:
			if !slices.Contains(known, w) {
				return nil, hint.Unknown("fault", w, append(known, NoFaults, Everything, AllColumns))
			}
			columns = append(columns, drawn(w))
		}
	}
	if slices.Contains(names, AllColumns) {
		names = scenarios.Names()
	}
	for _, name := range names {
		if name == NoFaults {
			continue
		}
		s, err := harness.LoadScenario(name)
		if err != nil {
			return nil, err
		}
		columns = append(columns, Column{Name: s.Name, Kind: Written, About: s.About, scenario: s})
	}
	seen := map[string]bool{}
	columns = slices.DeleteFunc(columns, func(c Column) bool {
		twice := seen[c.Name]
		seen[c.Name] = true
		return twice
	})
	return columns, nil
}

func nothing() Column { return Column{Name: NoFaults, Kind: Drawn, About: "nothing is done to it"} }

func mixed() Column {
	return Column{Name: Everything, Kind: Drawn, About: "all faults at random, overlapping now and then", all: true}
}

func drawn(fault string) Column {
	f, err := nemesis.Find(fault)
	if err != nil {
		panic(err) // its name comes from the registry
	}
	return Column{Name: fault, Kind: Drawn, About: f.About, faults: []string{fault}}
}
