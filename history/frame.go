package history

import (
	"slices"
	"strings"
	"time"
)

// Frame is what is left of a history that nobody keeps: what the harness and the nemesis did, and how much there was beside
// it. It is of the size of the schedule, however long the run. The zero value is ready to be added to.
type Frame struct {
	Ops   []Op          // of the harness and the nemesis, in order; where the history is kept, all ops
	Count int           // of all ops
	Last  time.Duration // when the last of them was

	over bool // the last of them is End
}

// Add takes the next op. It does not keep the pointer.
func (f *Frame) Add(op *Op) {
	f.Pass(op)
	if op.Process < 0 || f.over {
		f.Ops = append(f.Ops, *op)
	}
}

// Pass is Add of an op of which nothing but that it was there is to be kept.
func (f *Frame) Pass(op *Op) { f.Count, f.Last, f.over = f.Count+1, op.Time, op.F == End }

// Frame returns the history as a frame.
func (h *History) Frame() *Frame {
	f := &Frame{Ops: h.Ops, Count: len(h.Ops)}
	if f.Count > 0 {
		last := &h.Ops[f.Count-1]
		f.Last, f.over = last.Time, last.F == End
	}
	return f
}

// Setup returns what the history tells about the cluster, or nil.
func (f *Frame) Setup() *Setup {
	if len(f.Ops) > 0 && f.Ops[0].F == Begin {
		return f.Ops[0].Setup
	}
	return nil
}

// Settled tells when schedules began to count, and whether the history says so.
func (f *Frame) Settled() (at time.Duration, told bool) {
	for i := range f.Ops {
		if f.Ops[i].F == Settle {
			return f.Ops[i].Time, true
		}
	}
	return 0, false
}

// Untimed reports whether only the order of the ops is known, not when they were.
func (f *Frame) Untimed() bool { return f.Setup() != nil && f.Setup().Untimed }

// Complete reports whether the run reached its end: a history without End was cut short.
func (f *Frame) Complete() bool { return f.over && f.Ops[len(f.Ops)-1].Type == OK }

// Doubtful reports whether nobody knows if the history is whole, and why.
func (f *Frame) Doubtful() (why string, doubtful bool) {
	if !f.over || f.Complete() {
		return "", false
	}
	return f.Ops[len(f.Ops)-1].Error, true
}

// Happened is how many ops tell what happened between the beginning of the run and its end.
func (f *Frame) Happened() int {
	n := f.Count
	if f.Setup() != nil {
		n--
	}
	if f.over {
		n--
	}
	return n
}

// Strangers are those that faults are told of and that are none of the nodes, nor were added: what befell them is known of nobody. There
// are none where the nodes are not named, or are those that somebody else's history happened to name.
func (f *Frame) Strangers() (names []string) {
	setup := f.Setup()
	if setup == nil || len(setup.Nodes) == 0 || setup.Model != "" {
		return nil
	}
	known := map[string]bool{"": true}
	for _, n := range setup.Nodes {
		known[n] = true
	}
	for i := range f.Ops {
		fault := f.Ops[i].Fault
		if fault == nil {
			continue
		}
		for _, m := range fault.Members() {
			known[m.Node] = true
		}
		told := slices.Clone(fault.Nodes)
		for _, s := range fault.States() {
			told = append(told, s.Key().Nodes()...)
		}
		for _, n := range told {
			if n, _, _ = strings.Cut(n, "/"); !known[n] { // else it is a part of one
				known[n], names = true, append(names, n)
			}
		}
	}
	return names
}
