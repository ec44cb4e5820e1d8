package history

import (
	"cmp"
	"maps"
	"slices"
)

// State is the state of one thing that faults change: a link, or a node's process, clocks, disk or clients. Its kind of
// thing is a dimension. A type that implements State is all that adding, subtracting, comparing and replaying faults take,
// so a further dimension is the file with its type, and RegisterDimension. Implementations are comparable values.
type State interface {
	// Key says what it is the state of.
	Key() Key
	// Healthy is the state of the same thing that no fault changes.
	Healthy() State
	// Merge is the state of the same thing when two faults change it at once: s and other, which has the same Key.
	Merge(other State) State
	// Same reports whether the thing looks the same from outside in the other state.
	Same(other State) bool
	// Name is what people call the thing, "link n1→n2", and Words what they say of its state: "cut".
	Name() string
	Words() string
}

// Key names one thing that faults change.
type Key struct {
	Dimension string // "links", "procs", "clocks", "disks", "clients", or as registered
	Node      string // of a link, the one that sends
	To        string // of a link, the one that receives
	Port      int    // of a link's port
	Part      string // of a node's part, its name
}

// Compare orders keys by dimension and then by node, which is the order of all lists of states.
func (k Key) Compare(o Key) int {
	if k.Dimension != o.Dimension {
		return cmp.Or(cmp.Compare(order(k.Dimension), order(o.Dimension)), cmp.Compare(k.Dimension, o.Dimension))
	}
	return cmp.Or(cmp.Compare(k.Node, o.Node), cmp.Compare(k.To, o.To), cmp.Compare(k.Port, o.Port), cmp.Compare(k.Part, o.Part))
}

// Nodes are those that a thing belongs to.
func (k Key) Nodes() []string {
	if k.To == "" {
		return []string{k.Node}
	}
	return []string{k.Node, k.To}
}

// States are states of things, each under its key. What is missing is healthy.
type States map[Key]State

// Merge returns what all of these faults together make of things: where several change the same one, each has its part, and
// without one of them the others' parts are left. What comes out healthy is left out.
func Merge(faults ...Changes) States {
	all := States{}
	for _, c := range faults {
		for _, s := range c.States() {
			if was, ok := all[s.Key()]; ok {
				s = was.Merge(s)
			}
			all[s.Key()] = s
		}
	}
	return all.ill()
}

// ill drops what is healthy.
func (a States) ill() States {
	maps.DeleteFunc(a, func(_ Key, s State) bool { return s == s.Healthy() })
	return a
}

// From returns what has to change for b to become a: the states of a that b does not have, and the healthy ones of what
// only b has.
func (a States) From(b States) States {
	change := States{}
	for k, s := range a {
		if s != b[k] {
			change[k] = s
		}
	}
	for k, s := range b {
		if _, still := a[k]; !still {
			change[k] = s.Healthy()
		}
	}
	return change
}

// With returns a after a change.
func (a States) With(change Changes) States {
	all := States{}
	maps.Copy(all, a)
	for _, s := range change.States() {
		all[s.Key()] = s
	}
	return all.ill()
}

// Keys returns what a or b has a state of, in order.
func (a States) Keys(b States) []Key {
	all := States{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return slices.SortedFunc(maps.Keys(all), Key.Compare)
}

// Changes returns the states as a list of changes, in order.
func (a States) Changes() (c Changes) {
	for _, k := range slices.SortedFunc(maps.Keys(a), Key.Compare) {
		c.add(a[k])
	}
	return c
}
