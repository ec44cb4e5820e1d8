// Package suite makes all the runs that a team wants made, and tells what is new: targets × scenarios × seeds, with the
// weaknesses that are known and until when they are allowed. A suite is a file that is checked in beside the election.
package suite

import "time"

// Suite is a suite file. What it says for all targets and scenarios, each of them may say otherwise.
type Suite struct {
	File      string        `yaml:"-"`
	About     string        `yaml:"about"`
	On        string        `yaml:"on"` // sim or docker
	Nodes     int           `yaml:"nodes"`
	Time      time.Duration `yaml:"time"`
	Seeds     Seeds         `yaml:"seeds"`
	Budget    Budget        `yaml:"budget"` // of real time; what it leaves undone is told
	Workloads []string      `yaml:"workloads"`
	Ignore    []string      `yaml:"ignore"`  // properties that the suite is not about
	Require   []string      `yaml:"require"` // count as promised by every target
	Targets   []Target      `yaml:"targets"`
	Scenarios []Scenario    `yaml:"scenarios"`
	Known     []Known       `yaml:"known"`
}

// Target is an election that the suite tests: a name, or a mapping.
type Target struct {
	Target  string            `yaml:"target"`
	Name    string            `yaml:"name"` // in reports, and in known; the target's by default
	Options map[string]string `yaml:"options"`
	On      string            `yaml:"on"`
	Nodes   int               `yaml:"nodes"`
	Require []string          `yaml:"require"`
}

// Scenario is what is done to each target: a scenario's name or file, or a mapping, which may draw faults instead.
type Scenario struct {
	Scenario  string        `yaml:"scenario"`
	Name      string        `yaml:"name"` // in reports, and in known; the scenario's by default
	Faults    []string      `yaml:"faults"`
	Nodes     int           `yaml:"nodes"`
	Time      time.Duration `yaml:"time"`
	Seeds     Seeds         `yaml:"seeds"`
	Workloads []string      `yaml:"workloads"`
	Targets   []string      `yaml:"targets"` // the names of those that it is for; none are all
}

// Known is a weakness that is known, and allowed for the time being.
type Known struct {
	Target   string `yaml:"target" json:"target"` // its name in the suite
	Property string `yaml:"property" json:"property"`
	Scenario string `yaml:"scenario" json:"scenario,omitempty"` // "" is any
	Until    Date   `yaml:"until" json:"until"`                 // the last day on which it is allowed
	Reason   string `yaml:"reason" json:"reason"`
}

// Seeds are written as one, as a list, or as a range: 1-20.
type Seeds []uint64

// Budget is after how long no more runs begin; 0 is never.
type Budget struct{ time.Duration }

// Date is a day, in UTC.
type Date struct{ time.Time }

func (d Date) String() string { return d.Format(time.DateOnly) }

// MarshalText writes a date as 2027-03-31.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// passed reports whether the day is over.
func (d Date) passed(now time.Time) bool { return now.UTC().After(d.AddDate(0, 0, 1)) }
