package history

import "fmt"

// Own is a fault of the target's own on a node: what it is, the target alone knows. A node is asked to begin it, and to end it.
type Own struct {
	Node  string `json:"node"`
	Fault string `json:"fault"` // its name
	On    bool   `json:"begun,omitempty"`
}

// Owns is the dimension's name.
const Owns = "own"

func init() { RegisterDimension[Own](Owns) }

// Fails implements Failing.
func (o Own) Fails() bool { return o.On }

// fits says why it is none, or nil.
func (o Own) fits() error {
	if o.Fault == "" {
		return fmt.Errorf("a fault of the target's own on %s without a name", o.Node)
	}
	return nil
}

// Key implements State.
func (o Own) Key() Key { return Key{Dimension: Owns, Node: o.Node, Part: o.Fault} }

// Healthy implements State.
func (o Own) Healthy() State { return Own{Node: o.Node, Fault: o.Fault} }

// Merge implements State.
func (o Own) Merge(other State) State {
	o.On = o.On || other.(Own).On
	return o
}

// Same implements State: whether a node has it nobody can look at.
func (o Own) Same(State) bool { return true }

// Name implements State.
func (o Own) Name() string { return o.Fault + " of " + o.Node }

// Words implements State.
func (o Own) Words() string {
	if o.On {
		return "on"
	}
	return "off"
}

// Owns returns the faults of the target's own among the changes.
func (c Changes) Owns() []Own { return more[Own](c, Owns) }
