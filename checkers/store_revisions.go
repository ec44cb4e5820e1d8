package checkers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"

	"recount/checkers/linear"
)

// write is a write of a store that counts all writes to all of its registers, as etcd does: it took effect between two
// times, or the store's count is no count.
type write struct {
	object   *object
	revision uint64
	from, to time.Duration // 0 and never where nobody tells
	lower    *linear.Op    // who tells that it was not before from,
	upper    *linear.Op    // and that it was not after to,
	told     *linear.Op    // and of its revision
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
		ops = append(ops, porcupine.Operation{ClientId: i, Input: w, Call: int64(w.from), Return: int64(w.to)})
	}
	return ops
}

// disordered is the result for operations on a store by which its writes did not happen in the order of their revisions; false
// if there are none.
//
// A write happened between its call and its return, not before what was read last of the revision before it in its
// register, and not after its own was read first. One that never told its revision has that of whoever read what it wrote, unless
// another told that it wrote it. The writes can happen in their order if none of them must be done
// before one of a lower revision can begin, which is exact where the writes of each register are in order by themselves, and none of them is a
// compare-and-set: of random histories with such, one in 8,000 has no order, and is not found.
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
		if last != nil && w.to < last.from {
			return found(w, last, []*linear.Op{w.told, w.upper, last.lower, last.told},
				"%s came to revision %d by %s (%s %s), and %s had not come to revision %d by %s (%s %s): revisions of one store must rise",
				w.object.name(), w.revision, at(w.to), f.actor(int(w.upper.Begin)), w.object.Tell(w.upper),
				last.object.name(), last.revision, at(last.from), f.actor(int(last.lower.Begin)), last.object.Tell(last.lower))
		}
		if last == nil || w.from > last.from {
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

// finders are who found what in a register.
type finders struct {
	told   map[int32]*linear.Op // all uses, by their beginnings, as they were told
	first  map[int32]*linear.Op // who surely found each value, and was done first
	next   map[int32]*linear.Op // who found what one alone can have written, and wrote another of a known revision: what follows that
	unused *linear.Op           // who was called last of those that found what the register held at first, if nobody can have written that again
	left   map[int32]*linear.Op // who alone can have left each value behind; nil where several can
	valued map[int32]*linear.Op // who told the revision of each value, the lowest
	bases  map[int32]basis      // of writes, by their beginnings, once they were asked for
}

// finders tells who found what, given the uses that may have happened, and who told the revision of each value.
func (o *object) finders(settled []linear.Op, valued map[int32]*linear.Op) *finders {
	f := &finders{
		told: map[int32]*linear.Op{}, first: map[int32]*linear.Op{}, next: map[int32]*linear.Op{}, left: map[int32]*linear.Op{},
		valued: valued, bases: map[int32]basis{},
	}
	for i := range o.Ops {
		f.told[o.Ops[i].Begin] = &o.Ops[i]
	}
	writers := map[int32]int{} // of each value
	for i := range settled {
		u := &settled[i]
		if u.Brings() {
			writers[u.Value]++
		}
		if u.Kind == linear.Get {
			continue
		}
		if _, again := f.left[u.Value]; again {
			f.left[u.Value] = nil
		} else {
			f.left[u.Value] = u
		}
	}
	for i := range settled {
		u := &settled[i]
		v, looked := u.Found()
		if !looked || !u.Sure() {
			continue
		}
		if by := f.first[v]; by == nil || u.Return < by.Return {
			f.first[v] = u
		}
		if u = f.told[u.Begin]; !u.Sure() {
			continue
		}
		if by := f.next[v]; u.Kind == linear.CAS && u.Revision != 0 && v != 0 && writers[v] == 1 && (by == nil || u.Revision < by.Revision) {
			f.next[v] = u
		}
		if v == 0 && writers[0] == 0 {
			f.unused = u // they are in the order of their calls
		}
	}
	return f
}

// shown are those who show that a write happened of which nobody knows what came: who found what it wrote, and if nobody knows what came of
// that, either, who found what that wrote, and so on.
func (f *finders) shown(u *linear.Op) (by []*linear.Op) {
	for !f.told[u.Begin].Sure() {
		u = f.first[u.Value]
		by = append(by, f.told[u.Begin])
	}
	return by
}

// before is the write that alone can have left behind what a compare-and-set found, nil for what the register held at first, and who told
// its revision, if anybody did. Of other writes nobody knows.
func (f *finders) before(u *linear.Op) (write, told *linear.Op, ok bool) {
	v, looked := u.Found()
	if !looked {
		return nil, nil, false
	}
	write, written := f.left[v]
	if write == nil {
		return nil, nil, v == 0 && !written
	}
	return write, f.valued[v], true
}

// basis is the known revision that a write came after, with only writes between whose revisions nobody knows. 0 is what the register held
// at first.
type basis struct {
	revision uint64
	known    bool
}

// basis tells the basis of a write, by what it found, and what those found that left that behind.
func (f *finders) basis(u *linear.Op) (b basis) {
	var way []int32
	for {
		if was, known := f.bases[u.Begin]; known {
			b = was
			break
		}
		f.bases[u.Begin] = b // what was found in a circle did not happen
		way = append(way, u.Begin)
		write, told, ok := f.before(u)
		if told != nil {
			b = basis{told.Revision, true}
			break
		}
		if write == nil {
			b.known = ok
			break
		}
		u = write
	}
	for _, begin := range way {
		f.bases[begin] = b
	}
	return b
}

// based are those who show the basis of a write, which is known.
func (f *finders) based(u *linear.Op) (by []*linear.Op) {
	for {
		write, told, _ := f.before(u)
		if write == nil {
			return by
		}
		if by = append(by, f.told[write.Begin]); told != nil {
			return append(by, told)
		}
		u = write
	}
}

// revisions are the writes of a register whose revisions are known, in their order, and those that certainly happened and whose revisions
// nobody knows.
func (o *object) revisions() (all []write, silent []silentWrite) {
	known := map[uint64]*write{}
	revision := func(n uint64) *write {
		if known[n] == nil {
			known[n] = &write{object: o, revision: n, to: never}
		}
		return known[n]
	}
	last := map[uint64]*linear.Op{}  // who read each revision, called last
	untold := map[int32]*linear.Op{} // who wrote each value and told no revision, called first,
	until := map[int32]*linear.Op{}  // and done last
	read := map[int32]bool{}         // values of which a read tells the revision: who wrote them is not silent
	for i := range o.Ops {           // in the order of their calls
		u := &o.Ops[i]
		if u.Revision == 0 {
			if u.Kind == linear.Get {
				continue
			}
			if untold[u.Value] == nil {
				untold[u.Value], until[u.Value] = u, u
			}
			if u.Return > until[u.Value].Return {
				until[u.Value] = u
			}
			continue
		}
		w := revision(u.Revision)
		if u.Return < w.to {
			w.to, w.upper, w.told = u.Return, u, u
		}
		if u.Kind != linear.Get {
			w.from, w.lower = u.Call, u
		}
		last[u.Revision] = u
	}
	for n, u := range last {
		if w := known[n]; w.lower == nil { // nobody told that it wrote it, but somebody did: at first the revision was 0
			first := untold[u.Value]
			w.from, w.lower = first.Call, first
			if last := until[u.Value]; last.Return < w.to {
				w.to, w.upper = last.Return, last
			}
			read[u.Value] = true
		}
	}
	var latest []*linear.Op // of those who told a revision up to each, in their order, who was called last
	valued := map[int32]*linear.Op{}
	revisions := slices.Sorted(maps.Keys(last))
	for _, revision := range revisions {
		if u := last[revision]; valued[u.Value] == nil {
			valued[u.Value] = u
		}
		latest = append(latest, last[revision])
		if n := len(latest); n > 1 && latest[n-2].Call > latest[n-1].Call {
			latest[n-1] = latest[n-2]
		}
	}
	settled := o.Settled()
	found := o.finders(settled, valued)
	for i := range settled {
		u := &settled[i]
		if u.Revision != 0 || u.Kind == linear.Get || !u.Sure() || read[u.Value] {
			continue
		}
		s := silentWrite{object: o, op: u, told: found.told[u.Begin], shown: found.shown(u)}
		if after := sort.Search(len(latest), func(i int) bool { return latest[i].Call > u.Return }); after < len(latest) {
			s.seen = latest[after] // the register held that once the write was done
		}
		if next := found.next[u.Value]; next != nil && u.Brings() {
			if s.seen == nil || next.Revision < s.seen.Revision {
				s.seen = next
			}
			for n := range known {
				if n < next.Revision && (s.since == nil || n > s.since.Revision) {
					s.since = last[n]
				}
			}
		}
		if b := found.basis(u); b.known {
			s.finders = found
			if b.revision > 0 && (s.since == nil || b.revision > s.since.Revision) {
				s.since = last[b.revision]
			}
			next := sort.Search(len(revisions), func(i int) bool { return revisions[i] > b.revision })
			if next < len(revisions) && (s.seen == nil || revisions[next] < s.seen.Revision) {
				s.seen = last[revisions[next]]
			}
		}
		silent = append(silent, s)
	}
	all = make([]write, 0, len(known))
	for _, w := range known {
		all = append(all, *w)
	}
	slices.SortFunc(all, func(a, b write) int { return cmp.Compare(a.revision, b.revision) })
	if r := found.unused; r != nil && len(all) > 0 && r.Call > all[0].from {
		all[0].from, all[0].lower = r.Call, r
	}
	for i := 1; i < len(all); i++ {
		if r := last[all[i-1].revision]; r.Call > all[i].from {
			all[i].from, all[i].lower = r.Call, r
		}
	}
	return all, silent
}
