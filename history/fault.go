package history

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"recount/internal/hint"
)

// What the nemesis does, and whether it succeeds.
const (
	Inject  F = "inject"  // nemesis: a fault begins; ok = seen to take effect, fail = it did not, info = not known
	Change  F = "change"  // nemesis: a fault that moves (a flapping link) takes its next shape
	Heal    F = "heal"    // nemesis: a fault ends
	Compare F = "compare" // harness: is the cluster what the nemesis believes of it? ok = it is, fail = it is not, info = nobody knows
)

// faulted is the payload of ops that tell of a fault.
var faulted = func() *payload {
	fault := pointed(func(op *Op) **Fault { return &op.Fault })
	fault.append = func(op *Op, b []byte) []byte { return op.Fault.appendJSON(b) }
	return fault
}()

func init() {
	for _, f := range []F{Inject, Change, Heal} {
		register(kind{name: f, value: faulted, when: always, fits: func(op *Op) error {
			if op.Process != Nemesis { // who does one thing at a time: judging relies on it
				return fmt.Errorf("%s by process %v: it is the nemesis that does so, \"process\": \"nemesis\"", f, op.Process)
			}
			if op.Fault == nil {
				return nil
			}
			return op.Fault.fits(f)
		}, nodes: func(op *Op) (added []string) {
			if op.Fault == nil {
				return nil
			}
			for _, m := range op.Fault.Members() {
				added = append(added, m.Node)
			}
			return added
		}})
	}
	register(kind{name: Compare, alone: []Type{OK, Fail, Info}, fits: func(op *Op) error {
		if op.Process != Harness {
			return hint.Add(fmt.Errorf("%s by process %v", op.F, op.Process), `it is of the harness: "process":"harness"`)
		}
		return nil
	}})
}

// Fault says what the nemesis did: what was asked for, what that resolved to, and the states it left behind.
//
// Changes hold what this op changed, each thing with its new, whole state. Applying them op after op gives the state of
// the cluster at any time. While an op is under way (between its invoke and its end) either state may hold.
type Fault struct {
	ID     int               `json:"id"`               // one number from a fault's inject to its heal
	Name   string            `json:"name"`             // as registered: "cut-link"
	Params map[string]string `json:"params,omitempty"` // with units: {"down": "2.5s"}
	After  string            `json:"after,omitempty"`  // what it had waited for: "election of n2 in term 4"
	Asked  []string          `json:"asked,omitempty"`  // words as written: "leader", "follower"
	Nodes  []string          `json:"nodes,omitempty"`  // what the words resolved to, in the same order
	Changes
	Spread time.Duration `json:"spread,omitempty"` // from the first to the last node that the change took effect on
	// Found tells of a change that nothing was done: it is what was found to have come true of the op before, which not all has.
	Found bool `json:"found,omitempty"`
	// Idle says of a fault that is healed what never came, of what it was aimed at: it has not done what it was to do.
	Idle string `json:"idle,omitempty"`
}

// Title names a fault with the nodes that it was aimed at: "isolate n2", or a partition with its sides, "partition n1 n3 | n2 n4 n5".
func (f *Fault) Title() string {
	words := f.Name
	if own := f.Owns(); len(own) > 0 {
		words = own[0].Fault
	}
	for i, side := range f.Sides() {
		if i > 0 {
			words += " |"
		}
		for _, node := range side {
			words += " " + node
		}
	}
	return words
}

// Sides are the nodes that a fault was aimed at, those on one side that its links do not part. Nodes that it does not part into sides, or
// each from each alone, are on one.
func (f *Fault) Sides() (sides [][]string) {
	links := map[[2]string]bool{}
	for _, l := range f.Links {
		links[[2]string{l.From, l.To}] = true
	}
	side := map[string]int{}
	for _, node := range f.Nodes {
		i := slices.IndexFunc(sides, func(others []string) bool { return !links[[2]string{others[0], node}] })
		if i < 0 {
			i, sides = len(sides), append(sides, nil)
		}
		side[node], sides[i] = i, append(sides[i], node)
	}
	parts := len(sides) < len(f.Nodes)
	for _, from := range f.Nodes {
		for _, to := range f.Nodes {
			parts = parts && links[[2]string{from, to}] == (side[from] != side[to])
		}
	}
	if !parts {
		return [][]string{f.Nodes}
	}
	return sides
}

// fits says which state that an op tells of is none, or nil.
func (f *Fault) fits(op F) error {
	if err := f.Changes.fits(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// fits says which state is none, or nil: taken for another, one that is misspelt would be held against nodes, or excuse them.
func (c *Changes) fits() error {
	return cmp.Or(
		unfit(c.Links), unfit(c.Disks), unfit(c.Clocks), unfit(c.CPUs()), unfit(c.Memories()), unfit(c.Procs), unfit(c.Parts()), unfit(c.Members()), unfit(c.Owns()),
	)
}

// unfit says which of some states is none, or nil.
func unfit[S interface{ fits() error }](all []S) error {
	for _, s := range all {
		if err := s.fits(); err != nil {
			return err
		}
	}
	return nil
}
