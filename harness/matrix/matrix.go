// Package matrix measures what elections promise: each of them under each fault, judged for each property, over many
// seeds, in virtual time.
package matrix

import (
	"fmt"
	"slices"
	"time"

	"recount/harness/looked"
)

// Plan is what a matrix covers.
type Plan struct {
	On      string // where runs take place: record.OnSim, or record.OnVirtual
	Rows    []Row  // that were parsed for there
	Columns []Column
	// Seeds is how many runs each row makes under each column, with the seeds from First on, or from 1 where that is 0.
	// 0 is as many as Budget allows.
	Seeds int
	First uint64
	// Nodes are the sizes that clusters take in turn, from seed to seed, where no scenario decides.
	Nodes []int
	// Time is how long a run goes on from its first leader, where no scenario decides; 0 is what suits the row.
	Time time.Duration
	// Workloads are what clients do besides observing, where no scenario decides; each row has those that make sense for it.
	Workloads []string
	// Budget is real time after which no more runs begin; 0 is no limit.
	Budget time.Duration
	// Jobs is how many runs are made at once.
	Jobs int
}

// Table is a matrix, as far as it was measured.
type Table struct {
	Version string        `json:"version"` // of Recount
	Command string        `json:"command"` // that makes it again
	On      string        `json:"on,omitempty"`
	Started time.Time     `json:"started"` // by the calendar
	Took    time.Duration `json:"took"`    // real time
	Runs    int           `json:"runs"`
	Planned int           `json:"planned,omitempty"` // runs; 0 where only the budget limits them
	// Stopped says why there are not as many runs as planned; "" if there are. Interrupted is one such reason.
	Stopped     string     `json:"stopped,omitempty"`
	Interrupted bool       `json:"interrupted,omitempty"`
	Rows        []Row      `json:"rows"`
	Columns     []Column   `json:"columns"`
	Properties  []Property `json:"properties"`
	Pairs       []Pair     `json:"pairs"` // row by row, each in the order of the columns
	Missed      []Missed   `json:"missed,omitempty"`
	Unstarted   *Unstarted `json:"unstarted,omitempty"`
	// Looked is how much all runs together have looked at.
	Looked looked.Looked `json:"looked"`
	// Planted is how many planted bugs as many seeds are known to find; nil where nobody knows.
	Planted *looked.Planted `json:"planted,omitempty"`
}

// Property is what a cell is about.
type Property struct {
	Name  string `json:"name"`
	Holds string `json:"holds"` // completes "holds when …"
}

// Pair is one row under one column.
type Pair struct {
	Row    string `json:"row"`
	Column string `json:"column"`
	Runs   int    `json:"runs"`
	Barred string `json:"barred,omitempty"` // why no run is possible: too few nodes for the scenario, too short for the fault
	Cells  []Cell `json:"cells"`            // in the order of the table's properties

	unstarted int // runs
}

// Cell is what came of one property in all runs of a pair.
type Cell struct {
	Verdict  Outcome `json:"verdict"`
	Promised bool    `json:"promised,omitempty"`
	While    string  `json:"while,omitempty"` // the assumption that the promise rests on
	// How many runs came to what. Broken are those of Invalid that broke a promise; Caught those that did what the row's
	// foot-gun is there to do.
	Valid    int `json:"valid,omitempty"`
	Invalid  int `json:"invalid,omitempty"`
	Broken   int `json:"broken,omitempty"`
	Caught   int `json:"caught,omitempty"`
	Unknown  int `json:"unknown,omitempty"`
	Untested int `json:"untested,omitempty"`
	// The run with the smallest seed that broke the promise or caught the foot-gun, or else that violated the property.
	Seed    uint64 `json:"seed,omitempty"`
	Why     string `json:"why,omitempty"`
	Command string `json:"command,omitempty"` // that makes it
	Run     string `json:"run,omitempty"`     // its folder, relative to the matrix's, if it was kept
}

// Outcome is what a cell comes to.
type Outcome uint8

// The verdicts, from the one that says least to the one that matters most.
const (
	NotApplicable Outcome = iota // no run put the property to the test
	Unknown                      // runs did, and none could tell
	Valid                        // it held in all runs that could tell
	Weak                         // it was violated, and nobody had promised that it would not be
	Broken                       // it was promised, and violated
)

var verdictNames = [...]string{
	NotApplicable: "not applicable", Unknown: "unknown", Valid: "valid", Weak: "known weakness", Broken: "broken promise",
}

func (v Outcome) String() string { return verdictNames[v] }

// MarshalText writes the verdict's name.
func (v Outcome) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a verdict's name.
func (v *Outcome) UnmarshalText(b []byte) error {
	i := slices.Index(verdictNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("unknown verdict %q", b)
	}
	*v = Outcome(i)
	return nil
}

// Unstarted are runs whose nodes did not come up, with the first of them.
type Unstarted struct {
	Runs    int    `json:"runs"`
	Nodes   int    `json:"nodes"`
	Seed    uint64 `json:"seed"`
	Command string `json:"command"`
	Why     string `json:"why"`
}

// Missed is a scenario that did not show on its own target what it is there to show.
type Missed struct {
	Scenario string `json:"scenario"`
	Property string `json:"property"`
	Expected string `json:"expected"`
	Got      string `json:"got"`
	Runs     int    `json:"runs"` // in how many
	Seed     uint64 `json:"seed"` // the smallest of them
	Command  string `json:"command"`
}

// Pair returns one row under one column.
func (t *Table) Pair(row, column int) *Pair { return &t.Pairs[row*len(t.Columns)+column] }

// Summary is what a row's property comes to under all columns: the worst of their verdicts, and the columns that have it.
func (t *Table) Summary(row, property int) (worst Outcome, columns []int) {
	for c := range t.Columns {
		switch v := t.Pair(row, c).Cells[property].Verdict; {
		case v > worst:
			worst, columns = v, []int{c}
		case v == worst:
			columns = append(columns, c)
		}
	}
	return worst, columns
}

// Count returns how many cells came to a verdict.
func (t *Table) Count(v Outcome) (n int) {
	for i := range t.Pairs {
		for k := range t.Pairs[i].Cells {
			if t.Pairs[i].Cells[k].Verdict == v {
				n++
			}
		}
	}
	return n
}
