package history

import (
	"fmt"
	"math"
	"time"

	"recount/internal/hint"
)

// CPU is how much of its processor a node gets.
type CPU struct {
	Node string `json:"node"`
	// Share is for how much of each CPUPeriod the node runs, of one processor; it stands still for the rest. 0 is all that it
	// wants, and the healthy state.
	Share float64 `json:"share,omitempty"`
}

// CPUPeriod is after how long a node gets its share anew. It is that of Linux's CFS quotas.
const CPUPeriod = 100 * time.Millisecond

// CPUs is the dimension's name.
const CPUs = "cpu"

func init() { RegisterDimension[CPU](CPUs) }

// fits says why it is none, or nil.
func (c CPU) fits() error {
	if c.Share < 0 || c.Share > 1 {
		return hint.Add(fmt.Errorf("the processor of %s: a share of %v", c.Node, c.Share), "a share is from 0 to 1")
	}
	return nil
}

// Quota is for how long a node runs in each period, in whole microseconds as Linux has it.
func (c CPU) Quota() time.Duration {
	return time.Duration(math.Round(c.Share*float64(CPUPeriod/time.Microsecond))) * time.Microsecond
}

// Goes is when a node that has something to do at a time of the run does it, where the clock alone tells when it runs: at once in
// the first part of a period, and else as the next one begins.
func (c CPU) Goes(at time.Duration) time.Duration {
	if c.Share == 0 || at%CPUPeriod < c.Quota() {
		return at
	}
	return at - at%CPUPeriod + CPUPeriod
}

// Key implements State.
func (c CPU) Key() Key { return Key{Dimension: CPUs, Node: c.Node} }

// Healthy implements State.
func (c CPU) Healthy() State { return CPU{Node: c.Node} }

// Merge implements State: the smaller share holds.
func (c CPU) Merge(other State) State {
	if o := other.(CPU); c.Share == 0 || o.Share != 0 && o.Share < c.Share {
		return o
	}
	return c
}

// Same implements State: shares come in microseconds.
func (c CPU) Same(other State) bool { return c.Quota() == other.(CPU).Quota() }

// Name implements State.
func (c CPU) Name() string { return "the processor of " + c.Node }

// Words implements State.
func (c CPU) Words() string {
	if c.Share == 0 {
		return "not held back"
	}
	return fmt.Sprintf("held to %.4g%%", 100*c.Share)
}

// CPUs returns the states of processors among the changes.
func (c Changes) CPUs() []CPU { return more[CPU](c, CPUs) }
