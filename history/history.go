package history

import (
	"fmt"
	"slices"
)

// History is a whole recorded run, its ops in order of time.
type History struct {
	Ops []Op

	other []int32 // of an invoke its end, of an end its invoke; -1 where there is none
}

// New pairs up ops and orders them by time. It keeps the slice. Ops keep the Index they were recorded under.
//
// It fails where the ops are no history: an end without its invoke, a second invoke of a busy process, a time before the run
// began, more nodes than MaxNodes.
func New(ops []Op) (*History, error) {
	byTime := func(a, b Op) int {
		switch {
		case a.Time < b.Time:
			return -1
		case a.Time > b.Time:
			return 1
		}
		return 0
	}
	if !slices.IsSortedFunc(ops, byTime) {
		slices.SortStableFunc(ops, byTime)
	}
	h := &History{Ops: ops, other: make([]int32, len(ops))}
	open := map[Process]int32{}
	var f format
	for i := range ops {
		h.other[i] = -1
		op := &ops[i]
		if err := f.fits(op); err != nil {
			return nil, fmt.Errorf("op %d: %w", op.Index, err)
		}
		if op.Alone() {
			continue
		}
		begun, busy := open[op.Process]
		if op.Type == Invoke {
			if busy {
				return nil, fmt.Errorf("op %d: process %v invokes %s before its op %d has ended", op.Index, op.Process, op.F, ops[begun].Index)
			}
			open[op.Process] = int32(i)
			continue
		}
		if !busy || ops[begun].F != op.F {
			return nil, fmt.Errorf("op %d: process %v ends a %s that it never invoked", op.Index, op.Process, op.F)
		}
		h.other[i], h.other[begun] = begun, int32(i)
		delete(open, op.Process)
	}
	return h, nil
}

// Alone reports whether op stands by itself: something that was seen, not something that was begun and ended.
func (op *Op) Alone() bool { return kindOf(op.F).alone }

// Other returns the position in Ops of the end of an invoke, or of the invoke of an end; -1 where there is none: an
// invoke that never ended is as good as one that ended as info.
func (h *History) Other(i int) int { return int(h.other[i]) }

// Happened is how many ops tell what happened between the beginning of the run and its end.
func (h *History) Happened() int {
	n := len(h.Ops)
	if h.Setup() != nil {
		n--
	}
	if h.ended() {
		n--
	}
	return n
}
