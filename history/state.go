package history

import (
	"cmp"
	"iter"
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

// Failing is a State of what a process cannot do without.
type Failing interface {
	State
	// Fails reports whether a process may end over it.
	Fails() bool
}

// Fails reports whether a process may end over a thing in that state; nil is healthy.
func Fails(s State) bool {
	f, may := s.(Failing)
	return may && f.Fails()
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
	switch {
	case k.Dimension != o.Dimension:
		return cmp.Or(cmp.Compare(order(k.Dimension), order(o.Dimension)), cmp.Compare(k.Dimension, o.Dimension))
	case k.Node != o.Node:
		return cmp.Compare(k.Node, o.Node)
	case k.To != o.To:
		return cmp.Compare(k.To, o.To)
	}
	return cmp.Or(cmp.Compare(k.Port, o.Port), cmp.Compare(k.Part, o.Part))
}

// Nodes are those that a thing belongs to.
func (k Key) Nodes() []string {
	if k.To == "" {
		return []string{k.Node}
	}
	return []string{k.Node, k.To}
}

// States are states of things, in the order of their keys. What is missing is healthy.
type States []keyed

// keyed is a state with what is asked of it often.
type keyed struct {
	key     Key
	state   State
	healthy bool
}

func withKey(s State) keyed { return keyed{s.Key(), s, s == s.Healthy()} }

func byKey(a, b keyed) int { return a.key.Compare(b.key) }

// Listed returns all states that changes name, the healthy ones too, for Together.
func Listed(c Changes) States {
	all := c.states()
	if !slices.IsSortedFunc(all, byKey) {
		slices.SortStableFunc(all, byKey)
	}
	return all
}

// Merge returns what all of these faults together make of things: where several change the same one, each has its part, and
// without one of them the others' parts are left. What comes out healthy is left out.
func Merge(faults ...Changes) States {
	lists := make([]States, len(faults))
	for i, c := range faults {
		lists[i] = Listed(c)
	}
	return Together(lists...)
}

// Together is Merge of faults that are Listed.
func Together(faults ...States) (all States) {
	room := 0
	for _, list := range faults {
		room += len(list)
	}
	if room == 0 {
		return nil
	}
	all = make(States, 0, room)
	heads := make([]int, len(faults))
	for {
		first := -1
		for i, list := range faults {
			if heads[i] < len(list) && (first < 0 || list[heads[i]].key.Compare(faults[first][heads[first]].key) < 0) {
				first = i
			}
		}
		last := len(all) - 1
		switch {
		case first >= 0 && last >= 0 && all[last].key == faults[first][heads[first]].key:
			all[last] = withKey(all[last].state.Merge(faults[first][heads[first]].state))
			heads[first]++
			continue
		case last >= 0 && all[last].healthy:
			all = all[:last] // which is all that there was of it
		}
		if first < 0 {
			break
		}
		all = append(all, faults[first][heads[first]])
		heads[first]++
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// Of returns the state of a thing; nil if it is healthy.
func (a States) Of(k Key) State {
	if i, found := slices.BinarySearchFunc(a, k, func(s keyed, k Key) int { return s.key.Compare(k) }); found {
		return a[i].state
	}
	return nil
}

// All yields the states in order.
func (a States) All() iter.Seq[State] {
	return func(yield func(State) bool) {
		for i := range a {
			if !yield(a[i].state) {
				return
			}
		}
	}
}

// beside yields what a or b has a state of, in order, with the state in each; nil where it has none.
func (a States) beside(b States) iter.Seq2[Key, [2]State] {
	return func(yield func(Key, [2]State) bool) {
		for i, j := 0, 0; i < len(a) || j < len(b); {
			order := -1
			switch {
			case i == len(a):
				order = 1
			case j < len(b):
				order = a[i].key.Compare(b[j].key)
			}
			var k Key
			var both [2]State
			if order <= 0 {
				k, both[0] = a[i].key, a[i].state
				i++
			}
			if order >= 0 {
				k, both[1] = b[j].key, b[j].state
				j++
			}
			if !yield(k, both) {
				return
			}
		}
	}
}

// From returns what has to change for b to become a: the states of a that b does not have, and the healthy ones of what
// only b has.
func (a States) From(b States) States {
	change := make(States, 0, len(a)+len(b))
	for k, s := range a.beside(b) {
		switch {
		case s[0] == nil:
			change = append(change, keyed{k, s[1].Healthy(), true})
		case s[0] != s[1]:
			change = append(change, keyed{k, s[0], false})
		}
	}
	return change
}

// With returns a after a change.
func (a States) With(change Changes) (all States) {
	to := change.states()
	slices.Reverse(to) // of what is named twice, the last counts
	slices.SortStableFunc(to, byKey)
	to = slices.CompactFunc(to, func(a, b keyed) bool { return a.key == b.key })
	for _, s := range a.beside(to) {
		if s[1] == nil {
			s[1] = s[0]
		}
		if is := withKey(s[1]); !is.healthy {
			all = append(all, is)
		}
	}
	return all
}

// Both yields what a or b has a state of, in order, with the state in each; what one does not have is healthy in it.
func (a States) Both(b States) iter.Seq2[Key, [2]State] {
	return func(yield func(Key, [2]State) bool) {
		for k, s := range a.beside(b) {
			if s[0] == nil {
				s[0] = s[1].Healthy()
			}
			if s[1] == nil {
				s[1] = s[0].Healthy()
			}
			if !yield(k, s) {
				return
			}
		}
	}
}

// Changes returns the states as a list of changes, in order.
func (a States) Changes() (c Changes) {
	links := 0 // they come first, and are the most by far
	for links < len(a) && a[links].key.Dimension == ofLinks {
		links++
	}
	c.Links = slices.Grow(c.Links, links)
	for i := range a {
		c.Add(a[i].state)
	}
	return c
}
