package history

import "fmt"

// Part is the state of some of a node's processes, which go by one name there: its agent, its database. The others, and the
// node as a whole, have a state of their own.
type Part struct {
	Node    string    `json:"node"`
	Process string    `json:"process"`
	State   ProcState `json:"state"` // Up, Paused, or Down: whatever starts them again sees them end
}

// Parts is the dimension's name.
const Parts = "parts"

func init() { RegisterDimension[Part](Parts) }

// fits says why it is none, or nil.
func (p Part) fits() error {
	if p.State != Up && p.State != Paused && p.State != Down {
		return fmt.Errorf("the processes %s of %s cannot be %q: want up, down or paused", p.Process, p.Node, p.State)
	}
	return nil
}

// Key implements State.
func (p Part) Key() Key { return Key{Dimension: Parts, Node: p.Node, Part: p.Process} }

// Healthy implements State.
func (p Part) Healthy() State { return Part{p.Node, p.Process, Up} }

// Merge implements State: the worse of the two holds.
func (p Part) Merge(other State) State {
	if o := other.(Part); severity[o.State] > severity[p.State] {
		return o
	}
	return p
}

// Same implements State.
func (p Part) Same(other State) bool { return p == other }

// Name implements State.
func (p Part) Name() string { return p.Node + "/" + p.Process }

// Words implements State.
func (p Part) Words() string { return string(p.State) }

// Parts returns the states of parts of nodes among the changes.
func (c Changes) Parts() []Part { return more[Part](c, Parts) }
