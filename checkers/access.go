package checkers

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"recount/history"
)

// access is one use of the guarded resource.
type access struct {
	call, ret time.Duration // it took effect between them
	history.Access
	kind accessKind
	op   int32 // where in the history its outcome is, or its invoke if it has none
	node string
	use  time.Duration // of a maybe: taking effect later than that, it would change nothing
}

type accessKind uint8

const (
	accepted accessKind = iota // a write that was
	rejected                   // a write that was
	read
	maybe // a write that may have been accepted, or may yet be
)

// fenceModel is a register that accepts a write if no higher token was accepted before. Its state is what a read shows:
// the highest token accepted so far, and the value written last.
var fenceModel = porcupine.Model{
	Init: func() any { return &history.Access{} },
	Step: func(state, input, _ any) (bool, any) {
		s, a := state.(*history.Access), input.(*access)
		switch fresh := a.Token >= s.Token; a.kind {
		case accepted:
			return fresh, &a.Access
		case rejected:
			return !fresh, s
		case read:
			return a.Access == *s, s
		default:
			if fresh {
				return true, &a.Access
			}
			return true, s
		}
	},
	Equal: func(a, b any) bool { return *a.(*history.Access) == *b.(*history.Access) },
	DescribeOperation: func(input, _ any) string {
		a := input.(*access)
		return fmt.Sprintf("%s, value %d: %s", a, a.Value, outcomes[a.kind])
	},
	DescribeState: func(state any) string {
		s := state.(*history.Access)
		return fmt.Sprintf("token %d, value %d", s.Token, s.Value)
	},
}

// accesses returns all uses of the resource that say something about it. A read that told nothing is none.
func accesses(h *history.History) (all []access) {
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Type != history.Invoke || op.F != history.Write && op.F != history.Read {
			continue
		}
		a := access{call: op.Time, ret: never, Access: op.Access, kind: maybe, op: int32(i), node: op.Node}
		outcome := history.Info
		if end := h.Other(i); end >= 0 {
			outcome = h.Ops[end].Type
			if outcome != history.Info {
				a.ret, a.op = h.Ops[end].Time, int32(end)
			}
		}
		switch {
		case op.F == history.Read && outcome == history.OK:
			a.kind, a.Access = read, h.Ops[a.op].Access
		case op.F == history.Read:
			continue
		case outcome == history.OK:
			a.kind = accepted
		case outcome == history.Fail:
			a.kind = rejected
		}
		all = append(all, a)
	}
	return all // invokes are in order of time
}
