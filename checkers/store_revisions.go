package checkers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"recount/checkers/linear"
)

// write is a write of a store that counts all writes to all of its registers, as etcd does: it took effect between two
// times, or the store's count is no count.
type write struct {
	object   *object
	revision uint64
	from, to bound      // 0 and never where nobody tells
	told     *linear.Op // who tells of its revision
}

// bound is a time before which, or after which, a write did not take effect.
type bound struct {
	at     time.Duration
	by     *linear.Op   // who tells that
	silent *silentWrite // what by did, if that is one that told no revision, and came before the write, or after it; else nil
}

// shown are the operations that show a bound.
func (b *bound) shown() []*linear.Op {
	if b.silent != nil {
		return b.silent.placed()
	}
	return []*linear.Op{b.by}
}

// storeModel is a store that counts its writes: revisions rise. Its state is the latest.
var storeModel = porcupine.Model{
	Init: func() any { return uint64(0) },
	Step: func(state, input, _ any) (bool, any) {
		w := input.(*write)
		return w.revision > state.(uint64), w.revision
	},
	DescribeOperation: func(input, _ any) string {
		w := input.(*write)
		return fmt.Sprintf("%s came to revision %d", w.object.name(), w.revision)
	},
	DescribeState: func(state any) string { return fmt.Sprintf("revision %d", state) },
}

// drawn makes writes porcupine's, each between the times that are known of it.
func drawn(writes ...*write) (ops []porcupine.Operation) {
	for i, w := range writes {
		ops = append(ops, porcupine.Operation{ClientId: i, Input: w, Call: int64(w.from.at), Return: int64(w.to.at)})
	}
	return ops
}

// disordered is the result for operations on a store by which its writes did not happen in the order of their revisions; false
// if there are none.
//
// A write happened between its call and its return, not before what was read last of the revision before it in its
// register, and not after its own was read first. One that never told its revision has that of whoever read what it wrote, unless
// another told that it wrote it. The writes can happen in their order if none of them must be done before one of a lower revision can begin,
// which is exact where all that was done told its revision. Where that is not so, together looks further.
func (f *uses) disordered(ctx context.Context, all []*object, figures []Figure) (r Result, ok bool) {
	var writes []write
	var silent []silentWrite
	for _, o := range all {
		told, others := o.revisions()
		writes, silent = append(writes, told...), append(silent, others...)
	}
	slices.SortStableFunc(writes, func(a, b write) int { return cmp.Compare(a.revision, b.revision) })
	found := func(a, b *write, tell []*linear.Op, format string, args ...any) (Result, bool) {
		e, about := f.between(tell...)
		r := invalid(figures, e, format, args...)
		r.about, r.Drawing = about, linear.Draw(ctx, storeModel, drawn(a, b))
		return r, true
	}
	var last *write // of those before, the one that begins last
	for i := range writes {
		w := &writes[i]
		if i > 0 && writes[i-1].revision == w.revision { // a register has each of its own once
			before := &writes[i-1]
			return found(before, w, []*linear.Op{before.told, w.told}, "%s and %s both changed in revision %d: %s %s, %s %s",
				before.object.name(), w.object.name(), w.revision,
				f.actor(int(before.told.Begin)), before.object.Tell(before.told), f.actor(int(w.told.Begin)), w.object.Tell(w.told))
		}
		if last != nil && w.to.at < last.from.at {
			return found(w, last, slices.Concat([]*linear.Op{w.told}, w.to.shown(), last.from.shown(), []*linear.Op{last.told}),
				"%s came to revision %d by %s (%s %s), and %s had not come to revision %d by %s (%s %s): revisions of one store must rise",
				w.object.name(), w.revision, at(w.to.at), f.actor(int(w.to.by.Begin)), w.object.Tell(w.to.by),
				last.object.name(), last.revision, at(last.from.at), f.actor(int(last.from.by.Begin)), last.object.Tell(last.from.by))
		}
		if last == nil || w.from.at > last.from.at {
			last = w
		}
	}
	if c := crowded(writes, silent); c != nil {
		return f.noRoom(writes, c, figures), true
	}
	return Result{}, false
}

// between is evidence of some operations, which happened, and the nodes that they are about.
func (f *uses) between(ops ...*linear.Op) (e evidence, about set) {
	e.from = never
	for _, u := range ops {
		if e.from = min(e.from, u.Call); u.Sure() { // what others found of it was later
			e.to = max(e.to, u.Return)
		}
		e.ops = append(e.ops, f.index(u.Begin, u.Sure()))
		about = about.or(f.group(f.of(int(u.Begin)).node))
	}
	return e, about
}

// together looks for one order of all operations on a store, where that of the revisions that were told is not all there is to know: false if
// there is one, or need be none. Each register has an order by itself.
func (f *uses) together(ctx context.Context, all []*object, figures []Figure) (r Result, decided bool) {
	var registers []*linear.Object
	var of []*object
	silent := false
	for _, o := range all {
		if o.Lock {
			continue
		}
		registers, of = append(registers, o.Object), append(of, o)
		silent = silent || o.silent()
	}
	if len(registers) < 2 || !silent {
		return Result{}, false
	}
	found, core := linear.DecideStore(ctx, registers)
	switch found.Answer {
	case porcupine.Ok:
		return Result{}, false
	case porcupine.Unknown:
		return unknown(figures, "the store: %s: %s", found.Why, found.Remedy), true
	}
	var tell []*linear.Op
	var parts []string
	for i := range core {
		u := &core[i]
		tell = append(tell, &u.Op)
		parts = append(parts, fmt.Sprintf("%s %s (%s)", f.actor(int(u.Begin)), of[u.Register].Tell(&u.Op), of[u.Register].name()))
	}
	e, about := f.between(tell...)
	r = invalid(figures, e, "no order of the whole store, in which each write raises its revision, explains %s", abridged(parts))
	r.about = about
	return r, true
}

// silent reports whether any operation on a register told no revision, so that its place among others is open.
func (o *object) silent() bool {
	unused := func(u linear.Op) bool { return u.Kind == linear.Get && u.Value == 0 } // the revision was 0, if nobody wrote that again
	return slices.ContainsFunc(o.Ops, func(u linear.Op) bool { return u.Revision == 0 && !unused(u) }) ||
		slices.ContainsFunc(o.Ops, unused) && slices.ContainsFunc(o.Ops, func(u linear.Op) bool { return u.Kind != linear.Get && u.Value == 0 })
}
