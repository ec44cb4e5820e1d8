package linear

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// Evidence is what shows that operations have no order. Its operations have none by themselves, whatever became of all
// others.
type Evidence struct {
	Ops   []Op    // as few as can be
	Early bool    // the first of them found what nobody had written by then; the second, if any, wrote it later
	Freed bool    // the first of them gave a lock back, which then was free until the second gave it back, too
	Died  *Op     // the operation at whose return the last order died, where that is known,
	Held  []State // and what the object may have held until then, if it was one of a few things
}

// Evidence returns what shows that operations on an object have no order, which was found.
func (o *Object) Evidence(ctx context.Context, found Found) Evidence {
	var e Evidence
	settled := o.prune(slices.Clone(o.Ops))
	switch {
	case o.unwritten(o.Ops) != nil:
		e.Ops, e.Early = o.unwritten(o.Ops), true
	case found.died >= 0:
		e.Died = &settled[found.died]
		e.Ops = o.lessen(ctx, until(o.Ops, *e.Died))
	case o.unwritten(settled) != nil:
		e.Ops = o.lessen(ctx, until(o.Ops, o.unwritten(settled)[0]))
	default:
		e.Ops = o.lessen(ctx, o.soonest(ctx, settled))
	}
	o.tellAll(ctx, &e)
	if e.Died == nil { // then as far as these alone tell
		t := newTimeline(o, slices.Clone(e.Ops), State{})
		if alone := t.wide(ctx, limits{bytes: small}, false); alone.Answer == illegal {
			e.Died = &t.uses[alone.died]
		}
	}
	if e.Died != nil {
		e.Held = o.heldAt(ctx, e.Died)
	}
	e.addHolder(o.Ops)
	if answer, _ := Ask(ctx, o.model(State{}), operations(e.Ops)); answer == porcupine.Ok {
		panic(fmt.Sprintf("porcupine knows an order for %v of %v, died %v held %v", e.Ops, o.Ops, e.Died, e.Held))
	}
	return e
}

// heldAt returns what the object may have held until an operation returned at which the last order died, by all that was done to it:
// also by what nobody saw, and may have happened or not. It is nil where that takes long to find out, or where there may be more.
func (o *Object) heldAt(ctx context.Context, died *Op) []State {
	all := until(o.Ops, *died)
	t := newTimeline(o, all, State{})
	found := t.wide(ctx, limits{steps: lookSteps + lookStepsPer*len(all), bytes: small}, false)
	if found.Answer != illegal || t.uses[found.died].Begin != died.Begin || len(found.held) == mostHeld {
		return nil
	}
	return found.held
}

// tellAll puts back when operations returned that had not yet when the last order died: what is known of them is told. That
// rules out more orders, so it may take fewer operations; then the last order of these died elsewhere.
func (o *Object) tellAll(ctx context.Context, e *Evidence) {
	named := map[int32]*Op{}
	for i := range e.Ops {
		named[e.Ops[i].Begin] = &e.Ops[i]
	}
	told := false
	for i := range o.Ops {
		if u := named[o.Ops[i].Begin]; u != nil && u.Return != o.Ops[i].Return {
			u.Return, told = o.Ops[i].Return, true
		}
	}
	if !told {
		return
	}
	less := o.least(ctx, e.Ops)
	if !o.sourced(less) {
		less = o.leastSourced(ctx, e.Ops)
	}
	if len(less) < len(e.Ops) {
		e.Ops, e.Died = less, nil
	}
}

// mostSourced is from how many operations on nobody reads them one by one.
const mostSourced = 32

// leastSourced takes away what can be spared, one by one, where all that can have written what is found is to stay. Which are taken
// first decides what can be: they are gone through again until none can.
func (o *Object) leastSourced(ctx context.Context, all []Op) []Op {
	for i := 0; i < len(all) && len(all) < mostSourced && ctx.Err() == nil; {
		if less := o.without(all, i, i+1); o.sourced(less) && o.illegal(ctx, less) {
			all, i = less, 0
		} else {
			i++
		}
	}
	return all
}

// sourced reports whether a part of a register's operations has all writes in it that can have written what they found. If
// so, and if it has no order, neither have all.
func (o *Object) sourced(part []Op) bool {
	last := make([]time.Duration, len(o.values)) // when the last of them returned that found each value
	for i := range last {
		last[i] = -1
	}
	here := map[int32]bool{}
	for i := range part {
		u := &part[i]
		here[u.Begin] = true
		if found := u.found(); found >= 0 {
			last[found] = max(last[found], u.Return)
		}
	}
	return !slices.ContainsFunc(o.Ops, func(w Op) bool {
		return w.Kind != Get && w.Call <= last[w.Value] && !here[w.Begin]
	})
}

// addHolder names who had the lock that somebody else gave back, or who had given it back before, where that is known.
func (e *Evidence) addHolder(all []Op) {
	if len(e.Ops) != 1 || e.Ops[0].Kind != Give || len(e.Held) != 1 {
		return
	}
	var last *Op
	for i := range all {
		u := &all[i]
		if u.leaves() == e.Held[0].Value && u.Return < e.Ops[0].Return && (last == nil || u.Kind == Take || u.Return > last.Return) {
			last = u
		}
	}
	if last != nil {
		e.Ops, e.Freed = []Op{*last, e.Ops[0]}, last.Kind == Give
	}
}

// soonest returns what had been called when the first operation returned after which there was no order. It is looked for where zones
// tell, at once; elsewhere all is returned.
func (o *Object) soonest(ctx context.Context, settled []Op) []Op {
	if _, ok := o.clusters(settled); !ok {
		return o.Ops
	}
	ends := slices.DeleteFunc(slices.Clone(o.Ops), func(u Op) bool { return !u.Sure() })
	slices.SortStableFunc(ends, func(a, b Op) int { return cmp.Compare(a.Return, b.Return) })
	first := sort.Search(len(ends), func(i int) bool { return o.illegal(ctx, until(o.Ops, ends[i])) })
	if first == len(ends) { // ctx has ended
		return o.Ops
	}
	return until(o.Ops, ends[first])
}

// until returns what had been called when an operation returned. Whatever returned later may not have happened by then.
func until(all []Op, died Op) (part []Op) {
	for _, u := range all {
		if u.Call > died.Return {
			break
		}
		if u.Return > died.Return {
			if u.reads() {
				continue
			}
			u.Return = Never
		}
		part = append(part, u)
	}
	return part
}

// lessen returns a smallest part of operations that has no order, either. Of a register they are taken away, and with a
// write all that saw what it wrote: what is left of the legal is legal. Of a lock they are taken to be of unknown outcome,
// which is legal, too, if it was before: those that are left are at odds whatever became of the others.
func (o *Object) lessen(ctx context.Context, all []Op) []Op {
	if o.Lock {
		t := newTimeline(o, slices.Clone(all), State{})
		for i := range t.twin { // which of two that do the same had the lock is not the same to whoever reads this
			t.twin[i] = -1
		}
		w := newWide[[mostAtOnce / 64]uint64](t, limits{bytes: small, over: newMeter(ctx).over}, false)
		if found := w.run(); found.Answer == illegal {
			if part := w.since(found.died); o.illegal(ctx, part) {
				all = part
			}
		}
		return slices.DeleteFunc(o.least(ctx, all), func(u Op) bool { return !u.Sure() })
	}
	if clusters, ok := o.clusters(o.prune(slices.Clone(all))); ok {
		if a, b := torn(clusters); a != nil {
			all = o.ofClusters(all, a, b)
		}
	}
	for n := 16; n < len(all) && ctx.Err() == nil; n *= 4 { // the last of them are enough for most
		if part := o.without(all, 0, len(all)-n); o.illegal(ctx, part) {
			all = part
			break
		}
	}
	core := o.least(ctx, all)
	if less := withoutBystanders(slices.Clone(core)); len(less) < len(core) {
		return o.least(ctx, less) // what only those needed goes with them
	}
	return core
}

// withoutBystanders leaves out each compare-and-set of unknown outcome whose value somebody else wrote, too: nothing that was
// found speaks of it.
func withoutBystanders(core []Op) []Op {
	return slices.DeleteFunc(core, func(u Op) bool {
		return u.Kind == CAS && !u.Sure() && slices.ContainsFunc(core, func(w Op) bool {
			return w.Kind != Get && w.Value == u.Value && w.Begin != u.Begin && (w.Sure() || w.Kind == Put)
		})
	})
}

// ofClusters returns of the operations on two values those that show that neither of the values can have come first.
func (o *Object) ofClusters(all []Op, a, b *cluster) (part []Op) {
	for _, u := range all {
		for _, c := range [...]*cluster{a, b} {
			if int64(u.Value) == c.value && (u.Kind != Get || u.Return == c.finish || u.Call == c.start) {
				part = append(part, u)
			}
		}
	}
	return part
}

// illegal reports whether operations surely have no order.
func (o *Object) illegal(ctx context.Context, part []Op) bool {
	if ctx.Err() != nil {
		return false
	}
	part = o.prune(slices.Clone(part))
	if o.unwritten(part) != nil {
		return true
	}
	if clusters, ok := o.clusters(part); ok {
		a, _ := torn(clusters)
		return a != nil
	}
	return newTimeline(o, part, State{}).ours(ctx, small).Answer == illegal
}

// leastWork is how many operations the attempts to take some away may go through together, and leastWorkPer how many more for
// each there is. It is enough wherever few are left in the end. Where values repeat, hundreds may have to be named: nobody reads
// those one by one, so that there need not be as few as can be.
const (
	leastWork    = 200_000
	leastWorkPer = 40
)

// least takes away whatever can be spared. What cannot be decided in time, with little memory, or with so much work, is kept.
func (o *Object) least(ctx context.Context, all []Op) []Op {
	left := leastWork + leastWorkPer*len(all)
	for size := max(len(all)/2, 1); ; size /= 2 {
		for rest := len(all); rest > 0 && ctx.Err() == nil && left > 0; rest -= size {
			from := max(len(all)-rest, 0)
			less := o.without(all, from, min(from+size, len(all)))
			if left -= len(all); o.illegal(ctx, less) {
				all = less
			}
		}
		if size == 1 || left <= 0 {
			return all
		}
	}
}

// without takes operations away from a history in such a way that the legal stays legal.
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
