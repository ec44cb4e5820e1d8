package history

import (
	"fmt"

	"recount/internal/hint"
)

// Memory is how much memory a node may use. The kernel takes back what it can, and ends a process that wants more than that.
type Memory struct {
	Node  string  `json:"node"`
	Times float64 `json:"times,omitempty"` // as much as it used when it was squeezed, times this; 0 for no such bound
	Bytes int64   `json:"bytes,omitempty"` // and no more than this; 0 for no such bound
}

// Memories is the dimension's name.
const Memories = "memory"

func init() { RegisterDimension[Memory](Memories) }

// fits says why it is none, or nil.
func (m Memory) fits() error {
	if m.Times < 0 {
		return hint.Add(fmt.Errorf("%s: %v times what it used", m.Name(), m.Times), "from 0, which sets no such bound")
	}
	return amount(m.Name(), "limit", m.Bytes)
}

// Fails implements Failing.
func (m Memory) Fails() bool { return m != Memory{Node: m.Node} }

// Key implements State.
func (m Memory) Key() Key { return Key{Dimension: Memories, Node: m.Node} }

// Healthy implements State.
func (m Memory) Healthy() State { return Memory{Node: m.Node} }

// Merge implements State: the smaller of two bounds of a kind holds.
func (m Memory) Merge(other State) State {
	o := other.(Memory)
	if m.Times == 0 || o.Times != 0 && o.Times < m.Times {
		m.Times = o.Times
	}
	if m.Bytes == 0 || o.Bytes != 0 && o.Bytes < m.Bytes {
		m.Bytes = o.Bytes
	}
	return m
}

// Same implements State.
func (m Memory) Same(other State) bool { return m == other }

// Name implements State.
func (m Memory) Name() string { return "the memory of " + m.Node }

// Words implements State.
func (m Memory) Words() string {
	used, bytes := fmt.Sprintf("%.4g times what it used", m.Times), fmt.Sprintf("%.4g MiB", float64(m.Bytes)/(1<<20))
	switch {
	case m.Times > 0 && m.Bytes > 0:
		return "limited to " + used + ", and to " + bytes
	case m.Times > 0:
		return "limited to " + used
	case m.Bytes > 0:
		return "limited to " + bytes
	}
	return "not limited"
}

// Memories returns the states of nodes' memory among the changes.
func (c Changes) Memories() []Memory { return more[Memory](c, Memories) }
