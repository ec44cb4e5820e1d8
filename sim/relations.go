package sim

import (
	"slices"

	"recount/election"
)

// Relations are what happened before what in a run, in summary, after Meng, Pîrlea, Roychoudhury and Sergey, "Greybox Fuzzing of
// Distributed Systems" (CCS 2023). An event is a message that a node is handed, or a change of what the node is. It is
// summed up by its kind, the node's role, whether its term is older than, the same as or newer than the node's, and what was
// wrong with the node and the link. Two runs that share a relation had two such events in that order, at one node or as a
// message and what its sender had last been through.
type Relations struct {
	kinds []string
	codes []uint32 // of kinds
	last  []uint32 // of each node: its last event
	bits  [1 << relationBits / 64]uint64
	seen  []uint32
}

// relationBits is how long the numbers of relations are. Who estimates from those that were met how many there are yet takes two for one
// where their numbers are the same: a hunt of 40,000 runs meets some 40,000, and of those few share one.
const relationBits = 20

// Kinds are the kinds of messages that the run had, in the order in which they first came.
func (r *Relations) Kinds() []string { return r.kinds }

// Seen are the relations that the run had, each as a number of relationBits that means the same in all runs of a target.
func (r *Relations) Seen() []uint32 { return r.seen }

// Relate has the cluster sum up from now on what happens before what. It changes nothing of what happens.
func (c *Cluster) Relate() *Relations {
	c.met = &Relations{last: make([]uint32, len(c.nodes))}
	return c.met
}

// kind is a number for a kind of message that is the same in all runs.
func (r *Relations) kind(of string) uint32 {
	if k := slices.Index(r.kinds, of); k >= 0 {
		return r.codes[k]
	}
	h := uint32(2166136261)
	for i := range len(of) {
		h = (h ^ uint32(of[i])) * 16777619
	}
	r.kinds, r.codes = append(r.kinds, of), append(r.codes, h)
	return h
}

// handled takes note that a node is handed a message.
func (r *Relations) handled(n *node, from election.ID, m *election.Message) {
	age := uint32(1)
	switch {
	case m.Term < n.last.Term:
		age = 0
	case m.Term > n.last.Term:
		age = 2
	}
	code := r.kind(m.Kind)<<8 ^ age<<6 ^ uint32(n.last.Role)<<4
	if m.OK {
		code ^= 1 << 3
	}
	if from == n.last.Leader {
		code ^= 1 << 2
	}
	if n.c.links.Ill(int32(from)-1, n.index) {
		code ^= 1 << 1
	}
	if n.clock.Drift != 0 || n.disk.ill || n.cpu.Share > 0 {
		code ^= 1
	}
	sender := r.last[from-1]
	r.relate(sender, code, 1)
	r.event(n, code)
}

// changed takes note that a node is something else now.
func (r *Relations) changed(n *node, s election.Status) {
	code := uint32(s.Role)<<2 | uint32(n.last.Role)<<4
	if s.Term > n.last.Term {
		code |= 1
	}
	if s.Leader != election.None {
		code |= 2
	}
	r.event(n, 0xabcd0000|code|min(n.life, 3)<<8)
}

// event is the next thing that happens to a node.
func (r *Relations) event(n *node, code uint32) {
	r.relate(r.last[n.index], code, 0)
	r.last[n.index] = code
}

func (r *Relations) relate(before, after, how uint32) {
	h := (before*0x9e3779b1 ^ after) * 0x85ebca6b
	h ^= h>>15 ^ how
	h *= 0xc2b2ae35
	bit := h >> (32 - relationBits)
	if r.bits[bit/64]&(1<<(bit%64)) == 0 {
		r.bits[bit/64] |= 1 << (bit % 64)
		r.seen = append(r.seen, bit)
	}
}
