// Package record is what is kept of a run: its plan, its history and its verdicts, the folder that they lie in, and what
// the verdicts mean for the run. Nothing else decides that: reports, exit statuses and everything that makes many runs
// read a run's Standing and its verdicts' Meaning.
package record

import (
	"time"

	"recount/checkers"
	"recount/history"
	"recount/virtual/cover"
)

// Run is one run with all that is known of it.
type Run struct {
	Dir      string            `json:"-"`       // the run's folder; "" for a history without one
	From     string            `json:"-"`       // the folder of a history that is judged again, whose files stay as they are
	File     string            `json:"-"`       // the history that was judged, where it is no new run's
	Title    string            `json:"title"`   // the scenario, or the target where there is none
	Target   string            `json:"target"`  // the election under test
	Cluster  string            `json:"cluster"` // OnSim, OnVirtual or OnDocker
	Options  map[string]string `json:"options,omitempty"`
	Seed     uint64            `json:"seed"`
	Nodes    []string          `json:"nodes"`
	Started  time.Time         `json:"started"` // by the calendar; nothing is judged by it
	Took     time.Duration     `json:"took"`    // real time from start to verdicts
	Standing                   // what the verdicts amount to; Stand works it out
	Repeat   string            `json:"repeat"` // the command that repeats the run
	Notes    []string          `json:"notes,omitempty"`
	Unread   string            `json:"unread,omitempty"`  // answers of nodes that could not be read, in a sentence or two
	Version  string            `json:"version,omitempty"` // of Recount
	Events   string            `json:"events,omitempty"`  // with real servers in virtual time: a hash of all that they did, each switch of goroutines included
	// Sometimes are the lines that are to come sometimes in logs of nodes.
	Sometimes []Sometimes `json:"sometimes,omitempty"`
	// DescribedBy is the whole path of the file that described the target when the run was made; "" where none does.
	DescribedBy string `json:"described_by,omitempty"`
	// Description is what that said then, as long as the run is in memory.
	Description string `json:"-"`
	// Built are the images or executables that the nodes of such a target ran, each with a hash of it.
	Built []string `json:"built,omitempty"`
	Plan  Plan     `json:"plan,omitzero"` // its schedule included, drawn or written; zero if nobody knows
	// PlanHash is of the plan that the run was made by: the one beside it can be edited. "" of an older run's, and where nobody knows it.
	PlanHash string `json:"plan_hash,omitempty"`

	History  *history.History `json:"-"` // nil of a run that kept none
	Unkept   *history.Frame   `json:"-"` // what is left of it then
	Verdicts []Verdict        `json:"-"`
	// LastWords are notes, too: what nodes that ended by themselves wrote before. A run has them once it has a folder.
	LastWords []string `json:"-"`
	// Relations and Kinds sum up what happened in a simulated run that was made to learn from: see sim.Relations.
	Relations []uint32 `json:"-"`
	Kinds     []string `json:"-"`
	// Code is which statements of the nodes' programs have run, where they were built to tell; nil where they were not.
	Code *cover.Profile `json:"-"`
}

// Sometimes is a kind of line that is to come sometimes in logs of nodes.
type Sometimes struct {
	Pattern string `json:"pattern"`
	Times   int    `json:"times"` // that one came
}

// Verdict is a checker's result and what is at stake with it.
type Verdict struct {
	checkers.Result
	Promised bool   `json:"promised"`
	While    string `json:"while,omitempty"` // the assumption that the promise rests on; "" is none
	// Excused says that the run took that assumption away, so that nothing is promised in it.
	Excused bool `json:"excused,omitempty"`
	// Unclear says that nobody knows whether the target promises it: the target is not known here.
	Unclear bool `json:"unclear,omitempty"`
	// Expect is what the scenario says will come of it; Unknown where it says nothing, or the plan requires the property.
	Expect checkers.Verdict `json:"expect,omitzero"`
}

// Frame returns what the harness and the nemesis did, whether the history was kept or not.
func (r *Run) Frame() *history.Frame {
	switch {
	case r.History != nil:
		return r.History.Frame()
	case r.Unkept != nil:
		return r.Unkept
	}
	return &history.Frame{}
}

// Setup returns what the history tells about the cluster, or nil.
func (r *Run) Setup() *history.Setup { return r.Frame().Setup() }

// Verdict returns the verdict on a property, or nil if nobody judged it.
func (r *Run) Verdict(property string) *Verdict {
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Property == property {
			return v
		}
	}
	return nil
}
