package history

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// MaxNodes is how many nodes a history may name.
const MaxNodes = 256

// What bounds the numbers of a history, so that whoever reckons with them need not mind overflows: a run lasts less than
// longest, its bounds are no more than longestBound, and its counts no more than mostCounted.
const (
	longest      = 1 << 60 * time.Nanosecond // 36 years
	longestBound = 30 * 24 * time.Hour
	mostCounted  = 1000
)

// format checks op after op whether a history is one.
type format struct {
	nodes map[string]bool
	ops   int
}

// fits says why op cannot be the next op of a history, or nil.
func (f *format) fits(op *Op) error {
	f.ops++
	switch {
	case op.Time < 0:
		return fmt.Errorf("time %d: want nanoseconds since the run began, from 0", op.Time)
	case op.Time >= longest:
		return fmt.Errorf("time %d: want nanoseconds since the run began, less than %d", op.Time, longest)
	case op.Node == "" && op.ofNode():
		return fmt.Errorf("%s lacks its node", op.F)
	case op.F == Stall && (op.Access.Value < 0 || op.Access.Value >= int64(longest)):
		return fmt.Errorf("a stall of %d ns: want 0 or more, and less than %d", op.Access.Value, longest)
	case op.F == Begin && f.ops > 1:
		return errors.New("begin is not the first op")
	case op.F == Begin && op.Setup != nil:
		if err := op.Setup.fits(); err != nil {
			return err
		}
		for _, n := range op.Setup.Nodes {
			if err := f.name(n); err != nil {
				return err
			}
		}
	}
	return f.name(op.Node)
}

// ofNode reports whether op is about a node.
func (op *Op) ofNode() bool {
	switch op.F {
	case Observe, Announce, Granted, Exit, Apply, Resign, ReadClock:
		return true
	}
	return false
}

// name takes note of a node.
func (f *format) name(node string) error {
	if node == "" || f.nodes[node] {
		return nil
	}
	if len(f.nodes) == MaxNodes {
		return fmt.Errorf("%s is one node too many: at most %d", node, MaxNodes)
	}
	if f.nodes == nil {
		f.nodes = map[string]bool{}
	}
	f.nodes[node] = true
	return nil
}

// fits says what is wrong with a setup, or nil.
func (s *Setup) fits() error {
	for i, n := range s.Nodes {
		switch {
		case n == "":
			return errors.New("a node without a name")
		case slices.Contains(s.Nodes[:i], n):
			return fmt.Errorf("node %s is named twice", n)
		}
	}
	for _, n := range slices.Concat(s.Servers, s.Voting, []string{s.Store}) {
		if n != "" && !slices.Contains(s.Nodes, n) {
			return fmt.Errorf("%s is none of the nodes", n)
		}
	}
	b := s.Bounds
	for _, d := range []time.Duration{b.Silence, b.Elect, b.Poll} {
		if d < 0 || d > longestBound {
			return fmt.Errorf("a bound of %d ns: want 0 or more, and no more than %v", d, longestBound)
		}
	}
	if min(b.Moves, b.Returns) < 0 || max(b.Moves, b.Returns) > mostCounted || b.Terms > mostCounted {
		return fmt.Errorf("bounds of %d moves, %d returns and %d terms: want 0 or more, and no more than %d", b.Moves, b.Returns, b.Terms, mostCounted)
	}
	return nil
}
