package checkers

import (
	"time"

	"recount/history"
)

// begun are the operations under way, by who began them.
type begun struct {
	few  []beginning // of the processes with low numbers, which most are
	many map[history.Process]*beginning
}

// beginning is where an operation began.
type beginning struct {
	at     time.Duration
	number int // which op of the history it was
	index  int
	fault  *history.Fault
}

// lowNumbers are so many.
const lowNumbers = 1024

func newBegun() begun { return begun{many: map[history.Process]*beginning{}} }

// see takes note of an op with its number. Of the end of an operation it returns the beginning, which holds until its process
// begins the next one; else nil.
func (b *begun) see(op *history.Op, number int) *beginning {
	if op.Alone() {
		return nil
	}
	p := b.of(op.Process)
	if op.Type == history.Invoke {
		*p = beginning{op.Time, number, op.Index, op.Fault}
		return nil
	}
	delete(b.many, op.Process)
	return p
}

// of returns where a process's operation began last.
func (b *begun) of(p history.Process) *beginning {
	i := int(p - history.Harness) // the lowest
	if i >= lowNumbers {
		if b.many[p] == nil {
			b.many[p] = &beginning{}
		}
		return b.many[p]
	}
	if i >= len(b.few) {
		b.few = append(b.few, make([]beginning, max(i+1, 32)-len(b.few))...)
	}
	return &b.few[i]
}
