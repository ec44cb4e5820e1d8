package checkers

import (
	"sync"

	"recount/history"
)

// space is the memory of a judging that has ended, for the next: who judges many short runs asks for it once.
type space struct {
	answers []answer
	epochs  []epoch
	few     []beginning
	held    []history.Op
	leads   []leadership
	heights []height
}

var spaces = sync.Pool{New: func() any { return new(space) }}

// mostSpared is how many answers may be kept space for.
const mostSpared = 1 << 16

// reuse has the judging use the memory of one that has ended.
func (j *Judging) reuse() {
	r := spaces.Get().(*space)
	j.answers, j.leads, j.heights, j.held, j.open.few = r.answers[:0], r.leads[:0], r.heights[:0], r.held[:0], r.few[:0]
	j.world.epochs = append(r.epochs[:0], j.world.epochs...)
}

// spare leaves the memory to the next. Nothing may be asked of the facts any more.
func (j *Judging) spare() {
	if cap(j.answers) > mostSpared || j.crashed != nil {
		return
	}
	clear(j.open.few)
	clear(j.world.epochs)
	spaces.Put(&space{j.answers, j.world.epochs, j.open.few, j.held, j.leads, j.heights})
}
