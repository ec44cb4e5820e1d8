package linear

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Evidence is what shows that operations have no order.
type Evidence struct {
	Ops    []Op  // that have none, even alone; as few as can be
	Before State // what the object held before them
	Holder *Op   // who had the lock before them, where that is known
	Early  bool  // the first of them found what nobody had written by then; the second, if any, wrote it later
}

// Evidence returns what shows that there is no order, which was found.
func (o *Object) Evidence(ctx context.Context, found Found) Evidence {
	e := Evidence{Holder: found.holder()}
	e.Ops, e.Before = o.lessen(ctx, found)
	e.Early = o.unwritten(e.Ops) != nil
	if answer, _ := Ask(ctx, o.model(e.Before), operations(e.Ops)); answer == porcupine.Ok {
		panic(fmt.Sprintf("porcupine knows an order for %v", e.Ops))
	}
	return e
}

// lessen returns a smallest set of uses that still has no order, and what the object held before them. Of a register they
// are taken away, and with a write all that saw what it wrote: what is left of the legal is legal. Of a lock they are taken
// to be of unknown outcome, which is legal, too, if it was before: those that are left are at odds whatever became of the
// others.
func (o *Object) lessen(ctx context.Context, found Found) ([]Op, State) {
	if !o.Lock { // better evidence than what it held is who wrote that
		for less, n := 0, 16; less < len(found.whole); less, n = n, 4*n {
			part := o.without(found.whole, 0, max(len(found.whole)-n, 0))
			if o.illegal(ctx, part, State{}) {
				return o.least(ctx, part, State{}), State{}
			}
		}
	}
	return o.least(ctx, found.core, found.holds), found.holds
}

// illegal reports whether uses surely have no order.
func (o *Object) illegal(ctx context.Context, part []Op, begin State) bool {
	if clusters, ok := o.clusters(part); ok && begin == (State{}) {
		return torn(clusters)
	}
	return linearize(ctx, o, part, begin, small).Answer == porcupine.Illegal
}

func (o *Object) least(ctx context.Context, all []Op, begin State) []Op {
	for size := max(len(all)/2, 1); ; size /= 2 {
		for rest := len(all); rest > 0; rest -= size {
			from := max(len(all)-rest, 0)
			if less := o.without(all, from, min(from+size, len(all))); o.illegal(ctx, less, begin) {
				all = less
			}
		}
		if size == 1 {
			break
		}
	}
	if o.Lock {
		return slices.DeleteFunc(all, func(u Op) bool { return !u.Sure() }) // whatever became of them
	}
	return all
}

// without takes uses away from a history in such a way that the legal stays legal.
func (o *Object) without(all []Op, from, to int) []Op {
	if o.Lock {
		less := slices.Clone(all)
		for i := from; i < to; i++ {
			less[i].Return = Never
		}
		return less
	}
	gone := map[int32]bool{}
	for _, u := range all[from:to] {
		if u.Kind != Get {
			gone[u.Value] = true
		}
	}
	less := slices.Concat(all[:from], all[to:])
	for again := true; again; {
		again = false
		less = slices.DeleteFunc(less, func(u Op) bool {
			sees := gone[u.found()]
			if sees {
				gone[u.Value], again = true, true
			}
			return sees
		})
	}
	return less
}

// holder returns who had the lock before the core was done: of those who had taken it by then, the one whom all others
// came before. It is nil if nobody had it, or it may have been one or another. (It was nobody whose outcome is unknown:
// without that the lock might be free as well.)
func (found *Found) holder() (last *Op) {
	if found.holds.Value == 0 {
		return nil
	}
	busy := time.Duration(-1) // until then somebody else may have taken it
	for i := range found.done {
		u := &found.done[i]
		if u.Kind != Take || !u.Sure() {
			continue
		}
		if last = nil; busy < u.Call {
			last = u
		}
		busy = max(busy, u.Return)
	}
	return last
}
