package history

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"recount/internal/hint"
)

// Changes are states of links, node processes, clocks, disks and clients, as they are to be or have become. Unnamed ones
// stay as they are.
type Changes struct {
	Links  []Link  `json:"links,omitempty"`
	Procs  []Proc  `json:"procs,omitempty"`
	Clocks []Clock `json:"clocks,omitempty"`
	Disks  []Disk  `json:"disks,omitempty"`

	Clients []Client `json:"clients,omitempty"`
	More    More     `json:"more,omitempty"`
}

// More are states of things in dimensions that Changes has no field for, by the name of the dimension.
type More map[string][]State

// The dimensions that have a field.
const (
	ofLinks   = "links"
	ofProcs   = "procs"
	ofClocks  = "clocks"
	ofDisks   = "disks"
	ofClients = "clients"
)

// builtin are they in the order of their lists.
var builtin = []string{ofLinks, ofProcs, ofClocks, ofDisks, ofClients}

// readers read the states of the dimensions that have none.
var readers = map[string]func([]byte) ([]State, error){}

// RegisterDimension adds a dimension whose states are of type S. A name registered twice is a programming error.
func RegisterDimension[S State](dimension string) {
	if readers[dimension] != nil || slices.Contains(builtin, dimension) {
		panic("history: dimension registered twice: " + dimension)
	}
	readers[dimension] = func(b []byte) (all []State, err error) {
		var states []S
		if err := strict(b, &states); err != nil {
			return nil, fmt.Errorf("%s: %w", dimension, err)
		}
		for _, s := range states {
			all = append(all, s)
		}
		return all, nil
	}
}

// UnmarshalJSON reads the states of dimensions that are registered.
func (m *More) UnmarshalJSON(b []byte) error {
	var lists map[string]json.RawMessage
	if err := json.Unmarshal(b, &lists); err != nil {
		return err
	}
	*m = More{}
	for _, dimension := range slices.Sorted(maps.Keys(lists)) { // of two that are wrong, the same is told each time
		read, known := readers[dimension]
		if !known {
			return hint.Unknown("dimension", dimension, slices.Sorted(maps.Keys(readers)))
		}
		states, err := read(lists[dimension])
		if err != nil {
			return err
		}
		(*m)[dimension] = states
	}
	return nil
}

// order is a dimension's place among all.
func order(dimension string) int {
	if i := slices.Index(builtin, dimension); i >= 0 {
		return i
	}
	return len(builtin)
}

// Empty reports whether c changes nothing.
func (c Changes) Empty() bool {
	return len(c.Links)+len(c.Procs)+len(c.Clocks)+len(c.Disks)+len(c.Clients)+len(c.More) == 0
}

// States returns all states that c names, dimension by dimension.
func (c Changes) States() []State {
	all := slices.Concat(list(c.Links), list(c.Procs), list(c.Clocks), list(c.Disks), list(c.Clients))
	for _, dimension := range slices.Sorted(maps.Keys(c.More)) {
		all = append(all, c.More[dimension]...)
	}
	return all
}

// states is States, with what is asked of each often.
func (c *Changes) states() States {
	to := make(States, 0, len(c.Links)+len(c.Procs)+len(c.Clocks)+len(c.Disks)+len(c.Clients))
	to = withKeys(to, c.Links)
	to = withKeys(to, c.Procs)
	to = withKeys(to, c.Clocks)
	to = withKeys(to, c.Disks)
	to = withKeys(to, c.Clients)
	if len(c.More) > 0 {
		for _, dimension := range slices.Sorted(maps.Keys(c.More)) {
			to = withKeys(to, c.More[dimension])
		}
	}
	return to
}

func withKeys[S State](to States, states []S) States {
	for i := range states {
		to = append(to, withKey(states[i]))
	}
	return to
}

func list[S State](states []S) []State {
	all := make([]State, len(states))
	for i, s := range states {
		all[i] = s
	}
	return all
}

// more returns the states of a dimension that Changes has no field for.
func more[S State](c Changes, dimension string) (all []S) {
	for _, s := range c.More[dimension] {
		all = append(all, s.(S))
	}
	return all
}

// Without returns the same changes but for those of a dimension that Changes has no field for.
func (c Changes) Without(dimension string) Changes {
	if len(c.More[dimension]) > 0 {
		c.More = maps.Clone(c.More)
		delete(c.More, dimension)
	}
	return c
}

// Add adds a state to the list of its dimension.
func (c *Changes) Add(s State) {
	switch s := s.(type) {
	case Link:
		c.Links = append(c.Links, s)
	case Proc:
		c.Procs = append(c.Procs, s)
	case Clock:
		c.Clocks = append(c.Clocks, s)
	case Disk:
		c.Disks = append(c.Disks, s)
	case Client:
		c.Clients = append(c.Clients, s)
	default:
		if c.More == nil {
			c.More = More{}
		}
		d := s.Key().Dimension
		c.More[d] = append(c.More[d], s)
	}
}

// InTurn returns changes to all that some changes name, in their order: what is named twice is so twice.
func InTurn(all []Changes) (c Changes) {
	c.Links = inTurn(all, func(c *Changes) []Link { return c.Links })
	c.Procs = inTurn(all, func(c *Changes) []Proc { return c.Procs })
	c.Clocks = inTurn(all, func(c *Changes) []Clock { return c.Clocks })
	c.Disks = inTurn(all, func(c *Changes) []Disk { return c.Disks })
	c.Clients = inTurn(all, func(c *Changes) []Client { return c.Clients })
	for i := range all {
		for dimension, states := range all[i].More {
			if c.More == nil {
				c.More = More{}
			}
			c.More[dimension] = append(c.More[dimension], states...)
		}
	}
	return c
}

func inTurn[S State](all []Changes, list func(*Changes) []S) (states []S) {
	n := 0
	for i := range all {
		n += len(list(&all[i]))
	}
	states = slices.Grow(states, n)
	for i := range all {
		states = append(states, list(&all[i])...)
	}
	return states
}

// ChangesOf returns changes to these states, in their order.
func ChangesOf(states ...State) (c Changes) {
	for _, s := range states {
		c.Add(s)
	}
	return c
}
