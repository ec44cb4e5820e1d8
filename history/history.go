package history

import (
	"cmp"
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
	h, _, err := ordered(ops)
	return h, err
}

// ordered is New. With an error it returns the place that the op had which is wrong.
func ordered(ops []Op) (_ *History, place int, err error) {
	h := &History{Ops: ops, other: make([]int32, len(ops))}
	for i := range h.other {
		h.other[i] = int32(i) // until an op is paired up, the place that it had
	}
	if byTime := func(a, b int32) int { return cmp.Compare(ops[a].Time, ops[b].Time) }; !slices.IsSortedFunc(h.other, byTime) {
		slices.SortStableFunc(h.other, byTime)
		arrange(ops, h.other)
	}
	p := newPairing()
	var f format
	for i := range ops {
		place, h.other[i] = int(h.other[i]), -1
		op := &ops[i]
		err := f.fits(op)
		if err == nil {
			err = f.strange(op)
		}
		if err != nil {
			return nil, place, fmt.Errorf("op %d: %w", op.Index, err)
		}
		begun, ends, err := p.see(op, int32(i))
		if err != nil {
			return nil, place, fmt.Errorf("op %d: %w", op.Index, err)
		}
		if ends {
			h.other[i], h.other[begun] = begun, int32(i)
		}
	}
	return h, -1, nil
}

// arrange puts ops into an order: places has where each of them is now.
func arrange(ops []Op, places []int32) {
	for i := range places {
		if places[i] < 0 {
			continue // it was moved with others
		}
		first, to := ops[i], i
		for from := int(places[i]); from != i; from = int(places[to]) {
			ops[to], places[to] = ops[from], ^places[to]
			to = from
		}
		ops[to], places[to] = first, ^places[to]
	}
	for i := range places {
		places[i] = ^places[i]
	}
}

// pairing finds the beginning of each operation that ends.
type pairing struct {
	open  map[Process]beginning
	loose bool // ends may tell of other values than their beginnings
}

// beginning is an operation under way.
type beginning struct {
	at    int32 // where the caller has it
	index int
	f     F
	node  string // "" if it names none
	fault int    // its ID; 0 if it is about none
	asked asked
}

func newPairing() *pairing { return &pairing{open: map[Process]beginning{}} }

// see takes the next op, and where the caller has it. It reports whether op ends an operation, and where that began.
func (p *pairing) see(op *Op, at int32) (begun int32, ends bool, err error) {
	if op.F == Begin && op.Setup != nil { // of others' histories some tell in the end what came of it, and of a lock its token
		p.loose = op.Setup.Model != "" || op.Setup.Lock
	}
	if op.Alone() {
		return 0, false, nil
	}
	b, busy := p.open[op.Process]
	switch {
	case op.Type == Invoke && busy:
		return 0, false, fmt.Errorf("process %v invokes %s before its op %d has ended", op.Process, op.F, b.index)
	case op.Type == Invoke:
		p.open[op.Process] = beginning{at, op.Index, op.F, op.Node, op.about(), askedBy(op)}
		return 0, false, nil
	case !busy || b.f != op.F:
		return 0, false, fmt.Errorf("process %v ends %s, and has none under way", op.Process, op.F)
	case b.node != "" && op.Node != "" && b.node != op.Node:
		return 0, false, fmt.Errorf("process %v ends %s of %s, and had invoked that of %s with op %d", op.Process, op.F, op.Node, b.node, b.index)
	case b.fault != 0 && op.about() != 0 && b.fault != op.about():
		return 0, false, fmt.Errorf("process %v ends the %s of fault %d, and had invoked that of fault %d with op %d", op.Process, op.F, op.about(), b.fault, b.index)
	case !p.loose && !b.asked.met(op):
		return 0, false, fmt.Errorf("process %v ends another %s than it had invoked with op %d: %s, not %s", op.Process, op.F, b.index, askedBy(op), b.asked)
	}
	delete(p.open, op.Process)
	return b.at, true, nil
}

// about is the ID of the fault that an op is about; 0 if it names none.
func (op *Op) about() int {
	if op.Fault == nil {
		return 0
	}
	return op.Fault.ID
}

// Alone reports whether op stands by itself: something that was seen, not something that was begun and ended.
func (op *Op) Alone() bool { return kindOf(op.F).alone != nil }

// Other returns the position in Ops of the end of an invoke, or of the invoke of an end; -1 where there is none: an
// invoke that never ended is as good as one that ended as info.
func (h *History) Other(i int) int { return int(h.other[i]) }

// Happened is how many ops tell what happened between the beginning of the run and its end.
func (h *History) Happened() int { return h.Frame().Happened() }
