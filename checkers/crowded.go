package checkers

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"recount/checkers/linear"
	"recount/internal/count"
)

// silentWrite is a write that happened, of a store that counts all writes, and that told nobody its revision. It has one all the same.
type silentWrite struct {
	object  *object
	op      *linear.Op   // as it is known to have happened
	told    *linear.Op   // as it was told
	shown   []*linear.Op // who show that it happened, where nobody knows what came of it
	seen    *linear.Op   // who told a revision of the same register, which is higher: was called once it was done, or found what it wrote; nil for nobody
	since   *linear.Op   // who told the revision of the same register that it followed, where that is known
	finders *finders     // who show what it followed, where what it found tells that; else nil
	lo, hi  int          // of those whose revisions are known, in their order, it came before the one at hi and no earlier than after lo others
}

// follow tells that a write came after that of a revision which somebody told.
func (s *silentWrite) follow(by *linear.Op) {
	if s.since == nil || by.Revision > s.since.Revision {
		s.since = by
	}
}

// placed are the operations that show that a write happened, and between which revisions of its register.
func (s *silentWrite) placed() []*linear.Op {
	tell := append([]*linear.Op{s.told}, s.shown...)
	if s.finders != nil {
		tell = append(tell, s.finders.based(s.op)...)
	}
	for _, by := range []*linear.Op{s.seen, s.since} {
		if by != nil {
			tell = append(tell, by)
		}
	}
	return tell
}

// crowd are silent writes that were surely made between two others whose revisions leave room for one less: after the one before begin,
// if there is one, and before the one at end.
type crowd struct {
	silent           []silentWrite
	begin, end       int
	earliest, latest []int // of each of the others, by which it is known to be not before, and not after a time
}

// crowded finds silent writes for which there is no room among others, which are in the order of their revisions, one that they can have
// happened in; nil if there is room for all.
//
// Each gap between two revisions that follow each other takes as many as there are numbers in it, and a silent write may be in any gap from
// lo to hi. Those due first are placed first, which places all if they can be (Jackson, 1955: earliest due date).
func crowded(writes []write, silent []silentWrite) *crowd {
	c := &crowd{earliest: make([]int, len(writes)), latest: make([]int, len(writes))}
	for i := range writes {
		if c.earliest[i] = i; i > 0 && writes[c.earliest[i-1]].from.at > writes[i].from.at {
			c.earliest[i] = c.earliest[i-1]
		}
	}
	for i := len(writes) - 1; i >= 0; i-- {
		if c.latest[i] = i; i+1 < len(writes) && writes[c.latest[i+1]].to.at < writes[i].to.at {
			c.latest[i] = c.latest[i+1]
		}
	}
	place := func(of *linear.Op) int { // of the write that made the revision that it told
		i, _ := slices.BinarySearchFunc(writes, of.Revision, func(w write, revision uint64) int { return cmp.Compare(w.revision, revision) })
		return i
	}
	due := slices.Clone(silent)
	for i := range due {
		s := &due[i]
		s.lo = sort.Search(len(writes), func(i int) bool { return writes[c.latest[i]].to.at >= s.op.Call })
		s.hi = sort.Search(len(writes), func(i int) bool { return writes[c.earliest[i]].from.at > s.op.Return })
		if s.seen != nil {
			s.hi = min(s.hi, place(s.seen))
		}
		if s.since != nil {
			s.lo = max(s.lo, place(s.since)+1)
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
		c.begin, c.end = gap, gap
		for left := room(gap); ; left += room(c.begin) {
			c.silent = slices.DeleteFunc(slices.Clone(due), func(s silentWrite) bool { return s.lo < c.begin || s.hi > c.end })
			if uint64(len(c.silent)) > left {
				c.silent = c.silent[:left+1]
				return c
			}
			c.begin--
		}
	}
	return nil
}

// noRoom is the result for a crowd.
func (f *uses) noRoom(writes []write, c *crowd, figures []Figure) Result {
	w := &writes[c.end]
	bound := &writes[c.earliest[c.end]]
	tell := append(bound.from.shown(), bound.told)
	for i := c.begin; i <= c.end; i++ { // each has one of the numbers
		tell = append(tell, writes[i].told)
	}
	since := ""
	if c.begin > 0 {
		before, by := &writes[c.begin-1], &writes[c.latest[c.begin-1]]
		tell = append(append(tell, before.told, by.told), by.to.shown()...)
		since = fmt.Sprintf(", and after %s had come to revision %d by %s,", before.object.name(), before.revision, at(by.to.at))
	}
	var parts []string
	for _, s := range c.silent {
		tell = append(tell, s.placed()...)
		parts = append(parts, fmt.Sprintf("%s %s on %s", f.actor(int(s.told.Begin)), s.object.Tell(s.told), s.object.name()))
	}
	e, about := f.between(tell...)
	r := invalid(figures, e, "%s came to revision %d; before that%s %s of a revision that nobody told happened, with room for %d: %s",
		w.object.name(), w.revision, since, count.Of(len(c.silent), "write"), len(c.silent)-1, abridged(parts))
	r.about = about
	return r
}
