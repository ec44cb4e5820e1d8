package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"recount/internal/hint"
)

// MaxNodes is how many nodes a history may name.
const MaxNodes = 256

// What bounds the numbers of a history, so that whoever reckons with them need not mind overflows: a run lasts less than
// Longest, its bounds are no more than longestBound, and its counts no more than mostCounted.
const (
	Longest      = 1 << 60 * time.Nanosecond // 36 years
	longestBound = 30 * 24 * time.Hour
	mostCounted  = 1000
)

// format checks op after op whether a history is one, in the order in which they are given, which need not be that of time.
type format struct {
	nodes   map[string]bool // those that were named: whether as members, or only as strangers that faults befall
	closed  bool            // begin names the members: who is no other is added by a change of members
	ops     int
	latest  time.Duration // of the ops so far
	ended   bool          // one of them is end,
	end     time.Duration // of that time,
	endedAt int           // and this is how many ops there are up to it
}

// fits says why op cannot be the next op of a history, or nil.
func (f *format) fits(op *Op) error {
	f.ops++
	k := kindOf(op.F)
	switch {
	case op.Index < 0 && op.F != Begin: // in somebody else's history that is the one which was added
		return fmt.Errorf("index %d: want the op's number, from 0", op.Index)
	case op.Time < 0:
		return fmt.Errorf("time %d: want nanoseconds since the run began, from 0", op.Time)
	case op.Time >= Longest:
		return hint.Add(fmt.Errorf("time %d: want nanoseconds since the run began, less than %d", op.Time, Longest),
			"is it since 1970? take that of the first op off each")
	case op.Node == "" && k.ofNode:
		return fmt.Errorf("%s lacks its node", op.F)
	case k.alone != nil && !slices.Contains(k.alone, op.Type):
		return hint.Add(fmt.Errorf("%s of type %s", op.F, op.Type), "it is told at once, as %s", words(k.alone))
	case k.first && f.ops > 1:
		return fmt.Errorf("%s is not the first op", op.F)
	case f.ended && op.Time >= f.end:
		return fmt.Errorf("%s at %d ns comes after end, which is at %d ns: want end last", op.F, op.Time, f.end)
	case op.F == End && op.Time < f.latest:
		return fmt.Errorf("end is at %d ns, before an op at %d ns: want end last", op.Time, f.latest)
	}
	f.latest = max(f.latest, op.Time)
	if op.F == End {
		f.ended, f.end, f.endedAt = true, op.Time, f.ops
	}
	if k.fits != nil {
		if err := k.fits(op); err != nil {
			return err
		}
	}
	if k.nodes != nil {
		for _, n := range k.nodes(op) {
			if err := f.name(n, true); err != nil {
				return err
			}
		}
	}
	if op.Fault != nil {
		for _, p := range op.Fault.Procs {
			if err := f.name(p.Node, false); err != nil {
				return err
			}
		}
	}
	if op.F == Begin && op.Setup != nil {
		f.closed = len(op.Setup.Nodes) > 0 && op.Setup.Model == "" // somebody else's history names those that were seen
	}
	if f.closed { // who is not known by now is strange
		return nil
	}
	return f.name(op.Node, true)
}

// strange says of an op that fits, once all ops before it in time were seen, that its node is none of the members, or nil.
func (f *format) strange(op *Op) error {
	if !f.closed || op.Node == "" || f.nodes[op.Node] {
		return nil
	}
	return fmt.Errorf("%s of %s, which begin does not name among the nodes, and no change of members added", op.F, op.Node)
}

// name takes note of a node, and of whether it is a member.
func (f *format) name(node string, member bool) error {
	was, known := f.nodes[node]
	if node == "" || known && (was || !member) {
		return nil
	}
	if len(f.nodes) == MaxNodes && !known {
		return fmt.Errorf("%s is one node too many: at most %d", node, MaxNodes)
	}
	if f.nodes == nil {
		f.nodes = map[string]bool{}
	}
	f.nodes[node] = member
	return nil
}

// words are types as an error names them: "ok" or "info".
func words(types []Type) string {
	var all []string
	for _, t := range types {
		all = append(all, strconv.Quote(t.String()))
	}
	return strings.Join(all, " or ")
}
