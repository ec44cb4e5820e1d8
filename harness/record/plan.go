package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"recount/checkers"
	"recount/nemesis"
)

// Where a run can take place.
const (
	OnSim     = "sim"     // algorithms, in virtual time
	OnVirtual = "virtual" // real servers written in Go, in virtual time
	OnDocker  = "docker"  // real servers and algorithms, in containers
)

// Repeats reports whether the same plan gives the same run in a place, byte for byte: whether time is virtual there.
func Repeats(on string) bool { return on == OnSim || on == OnVirtual }

// Plan is everything that decides how a run goes. With the same plan a run in virtual time is the same, byte for byte.
type Plan struct {
	Scenario  string            `json:"scenario,omitempty"`
	Target    string            `json:"target"`
	Options   map[string]string `json:"options,omitempty"` // as given; the target's defaults for the rest
	On        string            `json:"on"`
	Nodes     int               `json:"nodes"`
	Time      time.Duration     `json:"time"` // from the first leader to the final healing
	Seed      uint64            `json:"seed"`
	Workloads []string          `json:"workloads,omitempty"` // besides observe
	Faults    []string          `json:"faults,omitempty"`    // to draw a schedule from, where there is none
	Schedule  nemesis.Schedule  `json:"schedule,omitempty"`
	Recorded  []nemesis.Action  `json:"recorded,omitempty"` // what was done in another run, to be done again
	// Goroutines is the order in which goroutines go on, with real servers in virtual time: see Orders. "" is the first.
	Goroutines string                      `json:"goroutines,omitempty"`
	Expect     map[string]checkers.Verdict `json:"expect,omitempty"`
	Require    []string                    `json:"require,omitempty"` // properties that count as promised, whatever Expect says of them
	Shows      []string                    `json:"shows,omitempty"`   // properties that the scenario is there to show broken, on its own target and not on this one
	Unfit      []string                    `json:"-"`                 // workloads of the scenario that this target, not its own, cannot be under; to be told when it is planned
}

// Known reports whether there is a plan: a history that came without its run's folder has none.
func (p *Plan) Known() bool { return p.Target != "" }

// Hash is of all in the plan that decides what happens in its run, as it is once it was stored and read back. What has to hold in it may be
// decided later.
func (p Plan) Hash() string {
	p.Expect, p.Require, p.Shows = nil, nil, nil
	var b []byte
	for range 2 { // text that is not UTF-8 is written otherwise than what is read back of it
		var err error
		if b, err = json.Marshal(p); err == nil {
			p = Plan{}
			err = json.Unmarshal(b, &p)
		}
		if err != nil {
			panic(err) // plans are stored all the time
		}
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// Written reports whether somebody wrote the schedule: whether it is a scenario's own. One without a scenario is a hunt's.
func (p *Plan) Written() bool { return p.Scenario != "" && len(p.Faults) == 0 }
