package checkers

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"recount/checkers/linear"
	"recount/internal/count"
)

// silentWrite is a write that happened, of a store that counts all writes, and that told nobody its revision. It has one all the same.
type silentWrite struct {
	object *object
	op     *linear.Op
	seen   *linear.Op // who was called once it was done, and told a revision of the same register, which is higher then; nil for nobody
	lo, hi int        // of those whose revisions are known, in their order, it came before the one at hi and no earlier than after lo others
}

// crowded is the result for a store where more silent writes were surely made between two others than the revisions of these leave room for;
// false if there is room for all.
//
// Each gap between two revisions that follow each other takes as many as there are numbers in it, and a silent write may be in any gap from
// lo to hi. Those due first are placed first, which places all if they can be (Jackson, 1955: earliest due date). writes are in the order
// of their revisions, which is one that they can have happened in.
func (f *uses) crowded(writes []write, silent []silentWrite, figures []Figure) (r Result, ok bool) {
	earliest, latest := make([]int, len(writes)), make([]int, len(writes)) // by whom each is known to be not before, and not after a time
	for i := range writes {
		if earliest[i] = i; i > 0 && writes[earliest[i-1]].from > writes[i].from {
			earliest[i] = earliest[i-1]
		}
	}
	for i := len(writes) - 1; i >= 0; i-- {
		if latest[i] = i; i+1 < len(writes) && writes[latest[i+1]].to < writes[i].to {
			latest[i] = latest[i+1]
		}
	}
	from := func(i int) time.Duration { return writes[earliest[i]].from }
	to := func(i int) time.Duration { return writes[latest[i]].to }
	var due []silentWrite
	for _, s := range silent {
		s.lo = sort.Search(len(writes), func(i int) bool { return to(i) >= s.op.Call })
		s.hi = sort.Search(len(writes), func(i int) bool { return from(i) > s.op.Return })
		if s.seen != nil {
			own, _ := slices.BinarySearchFunc(writes, s.seen.Revision, func(w write, revision uint64) int { return cmp.Compare(w.revision, revision) })
			s.hi = min(s.hi, own)
		}
		if s.hi < len(writes) { // after the last there is room for all
			due = append(due, s)
		}
	}
	slices.SortFunc(due, func(a, b silentWrite) int { return cmp.Compare(a.lo, b.lo) })
	room := func(gap int) uint64 {
		if gap == 0 {
			return writes[0].revision - 1
		}
		return writes[gap].revision - writes[gap-1].revision - 1
	}
	var waiting []int // the gaps in which those must be placed at the latest that may be placed now
	next := 0
	for gap := range writes {
		for ; next < len(due) && due[next].lo <= gap; next++ {
			at, _ := slices.BinarySearch(waiting, due[next].hi)
			waiting = slices.Insert(waiting, at, due[next].hi)
		}
		waiting = waiting[min(room(gap), uint64(len(waiting))):]
		if len(waiting) == 0 || waiting[0] > gap {
			continue
		}
		begin, left := gap, room(gap)
		within := func() (all []silentWrite) {
			for _, s := range due {
				if s.lo >= begin && s.hi <= gap {
					all = append(all, s)
				}
			}
			return all
		}
		for uint64(len(within())) <= left {
			begin--
			left += room(begin)
		}
		return f.noRoom(writes, within()[:left+1], begin, gap, earliest, latest, figures), true
	}
	return Result{}, false
}

// noRoom is the result for silent writes that were made after the write before the one at begin, if there is one, and before the one at end.
func (f *uses) noRoom(writes []write, silent []silentWrite, begin, end int, earliest, latest []int, figures []Figure) Result {
	w := &writes[end]
	bound := &writes[earliest[end]]
	tell := []*linear.Op{bound.lower, bound.told}
	for i := begin; i <= end; i++ { // each has one of the numbers
		tell = append(tell, writes[i].told)
	}
	since := ""
	if begin > 0 {
		before, by := &writes[begin-1], &writes[latest[begin-1]]
		tell = append(tell, before.told, by.upper, by.told)
		since = fmt.Sprintf(", and after %s had come to revision %d by %s,", before.object.name(), before.revision, at(by.to))
	}
	var parts []string
	for i, s := range silent {
		if tell = append(tell, s.op); s.seen != nil {
			tell = append(tell, s.seen)
		}
		if i < mostTold {
			parts = append(parts, fmt.Sprintf("%s %s on %s", f.actor(int(s.op.Begin)), s.object.Tell(s.op), s.object.name()))
		}
	}
	if more := len(silent) - mostTold; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	slices.SortFunc(tell, func(a, b *linear.Op) int { return cmp.Compare(a.Begin, b.Begin) })
	e, about := f.between(tell...)
	r := invalid(figures, e, "%s came to revision %d; before that%s %s of a revision that nobody told happened, with room for %d: %s",
		w.object.name(), w.revision, since, count.Of(len(silent), "write"), len(silent)-1, list(parts))
	r.about = about
	return r
}
