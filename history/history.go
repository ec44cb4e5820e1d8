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
func (op *Op) Alone() bool {
	switch op.F {
	case Begin, Settle, End, Compare, Stall, Exit, Announce, Granted, ReadClock, Apply:
		return true
	}
	return false
}

// Other returns the position in Ops of the end of an invoke, or of the invoke of an end; -1 where there is none: an
// invoke that never ended is as good as one that ended as info.
func (h *History) Other(i int) int { return int(h.other[i]) }

// Setup returns what the run's first op tells about the cluster, or nil.
func (h *History) Setup() *Setup {
	if len(h.Ops) > 0 && h.Ops[0].F == Begin {
		return h.Ops[0].Setup
	}
	return nil
}

// Complete reports whether the run reached its end: a history without End was cut short.
func (h *History) Complete() bool { return h.ended() && h.Ops[len(h.Ops)-1].Type == OK }

// Doubtful reports whether nobody knows if the history is whole, and why.
func (h *History) Doubtful() (why string, doubtful bool) {
	if !h.ended() || h.Complete() {
		return "", false
	}
	return h.Ops[len(h.Ops)-1].Error, true
}

func (h *History) ended() bool { return len(h.Ops) > 0 && h.Ops[len(h.Ops)-1].F == End }

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
