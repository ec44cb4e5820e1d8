package linear

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"
)

// StoreOp is an operation on one of the registers of a store that counts all writes to all of them.
type StoreOp struct {
	Op
	Register int
}

// DecideStore looks for one order of all operations on the registers of a store, in which each write raises the one revision of the store,
// by one or more. Where there is none, core are the fewest that show it. It is exact, as Decide is. No register is a lock.
func DecideStore(ctx context.Context, registers []*Object) (found Found, core []StoreOp) {
	var all []StoreOp
	for r, o := range registers {
		for _, u := range o.Ops {
			all = append(all, StoreOp{u, r})
		}
	}
	slices.SortStableFunc(all, func(a, b StoreOp) int { return cmp.Compare(a.Call, b.Call) })
	m := memoryOf(ctx)
	m.mu.Lock() // large searches take turns
	defer m.mu.Unlock()
	s := newStoreSearch(registers, all)
	switch found = s.run(ctx, m.bytes); found.Answer {
	case unknown:
		found.Remedy = "have more of them tell their revisions, or fewer of them time out, or judge a shorter history"
		if ctx.Err() != nil {
			found.Remedy = more(ctx)
		}
	case illegal:
		ctx, cancel := Extended(ctx)
		defer cancel()
		return found, leastOfStore(ctx, registers, all, s.last)
	}
	return found, nil
}

// The search for an order of a store goes through so many configurations, and so many more for each operation. Where nearly all writes tell
// their revisions, one for each is enough; where half of them do not, nothing is.
const (
	storeSteps    = 1 << 18
	storeStepsPer = 64
)

// storeDepth is how many writes one after the other the search goes through: it goes so deep into itself, and a goroutine's stack has an end.
const storeDepth = 1 << 20

// toldRevision is one that some operation told.
type toldRevision struct {
	number   uint64
	register int
	value    int32 // what the register held then
	written  bool  // who wrote it told so
	reads    int   // how many that told it are still to come
}

// storeWrites are writes of unknown outcome that do the same.
type storeWrites struct {
	u     StoreOp
	calls []time.Duration
	used  int
}

// storeHeld is what a register holds, and the place of its revision among those that were told; -1 if it is none of these.
type storeHeld struct {
	value, told int32
}

// storeSearch goes deep, as porcupine does. A read takes effect as soon as it can. What is tried first is what certainly happened.
type storeSearch struct {
	sure       []StoreOp // in the order of their calls
	told       []int32   // of each, the place of the revision that it told; -1 if it told none
	next, prev []int32   // of those that are still to come, behind a head at len(sure)
	maybe      []storeWrites
	revisions  []toldRevision
	held       []storeHeld
	passed     int32  // so many of the revisions have been
	gap        uint64 // and so many others since
	furthest   int32  // of those that took effect, the last that was called
	met        map[string]struct{}
	bytes      int64
	most       int64
	steps      int
	depth      int // so many writes have taken effect
	over       func() bool
	why        string
	last       time.Duration // when the last order ended
}

func newStoreSearch(registers []*Object, all []StoreOp) *storeSearch {
	s := &storeSearch{held: make([]storeHeld, len(registers)), met: map[string]struct{}{}, furthest: -1}
	for i := range s.held {
		s.held[i].told = -1
	}
	parts := make([][]Op, len(registers))
	for i := range all {
		parts[all[i].Register] = append(parts[all[i].Register], all[i].Op)
	}
	kinds := map[StoreOp]int{}
	for r, o := range registers {
		for _, u := range o.prune(parts[r]) {
			x := StoreOp{u, r}
			if u.Sure() {
				s.sure = append(s.sure, x)
				continue
			}
			like := StoreOp{u.like(), r}
			n, known := kinds[like]
			if !known {
				n = len(s.maybe)
				kinds[like] = n
				s.maybe = append(s.maybe, storeWrites{u: x})
			}
			s.maybe[n].calls = append(s.maybe[n].calls, u.Call) // they are in the order of their calls
		}
	}
	slices.SortStableFunc(s.sure, func(a, b StoreOp) int { return cmp.Compare(a.Call, b.Call) })
	s.number()
	s.link()
	return s
}

// number finds the revisions that were told.
func (s *storeSearch) number() {
	for i := range s.sure {
		if u := &s.sure[i]; u.Revision != 0 {
			s.revisions = append(s.revisions, toldRevision{number: u.Revision, register: u.Register, value: u.Value})
		}
	}
	byNumber := func(a, b toldRevision) int { return cmp.Compare(a.number, b.number) }
	slices.SortStableFunc(s.revisions, byNumber)
	s.revisions = slices.CompactFunc(s.revisions, func(a, b toldRevision) bool { return a.number == b.number })
	s.told = make([]int32, len(s.sure))
	for i := range s.sure {
		u := &s.sure[i]
		if s.told[i] = -1; u.Revision == 0 {
			continue
		}
		n, _ := slices.BinarySearchFunc(s.revisions, toldRevision{number: u.Revision}, byNumber)
		s.told[i] = int32(n)
		if r := &s.revisions[n]; u.Kind == Get {
			r.reads++
		} else {
			r.written = true
		}
	}
}

func (s *storeSearch) link() {
	n := len(s.sure)
	s.next, s.prev = make([]int32, n+1), make([]int32, n+1)
	for i := range n + 1 {
		s.next[i], s.prev[i] = int32((i+1)%(n+1)), int32((i+n)%(n+1))
	}
}

func (s *storeSearch) head() int32 { return int32(len(s.sure)) }

// done has an operation take effect.
func (s *storeSearch) done(i int32) {
	s.next[s.prev[i]], s.prev[s.next[i]] = s.next[i], s.prev[i]
	if t := s.told[i]; t >= 0 && s.sure[i].Kind == Get {
		s.revisions[t].reads--
	}
}

// undone takes that back. What took effect last is taken back first.
func (s *storeSearch) undone(i int32) {
	s.next[s.prev[i]], s.prev[s.next[i]] = i, i
	if t := s.told[i]; t >= 0 && s.sure[i].Kind == Get {
		s.revisions[t].reads++
	}
}

func (s *storeSearch) run(ctx context.Context, bytes int64) Found {
	m := newMeter(ctx)
	defer m.done()
	s.most, s.over = bytes, m.over
	ok := s.goOn()
	switch {
	case s.why != "":
		return undecided(s.steps, s.why)
	case ok:
		return ordered(s.steps)
	}
	return Found{Answer: illegal, Steps: s.steps, died: -1}
}

// goOn reports whether all that is still to come has an order.
func (s *storeSearch) goOn() bool {
	until, furthest := s.read()
	defer func(was int32) {
		for i := len(until.reads) - 1; i >= 0; i-- {
			s.undone(until.reads[i])
		}
		s.furthest = was
	}(furthest)
	if s.next[s.head()] == s.head() {
		return true
	}
	if s.last = max(s.last, until.end); s.known() {
		return false
	}
	for _, i := range until.writes {
		was := s.furthest
		s.furthest = max(was, i)
		s.done(i)
		ok := s.write(&s.sure[i], s.told[i])
		s.undone(i)
		s.furthest = was
		if ok || s.why != "" {
			return ok
		}
	}
	for k := range s.maybe {
		w := &s.maybe[k]
		if w.used == len(w.calls) || w.calls[w.used] > until.end {
			continue
		}
		w.used++
		ok := s.write(&w.u, -1)
		w.used--
		if ok || s.why != "" {
			return ok
		}
	}
	return false
}

// soon is what may take effect next, before the first of what is under way returns.
type soon struct {
	end    time.Duration
	reads  []int32 // which have just taken effect
	writes []int32 // first those that return first
}

// read has all reads take effect that can, for they change nothing.
func (s *storeSearch) read() (n soon, furthest int32) {
	furthest = s.furthest
	for again := true; again; {
		again, n.end, n.writes = false, Never, n.writes[:0]
		for i := s.next[s.head()]; i != s.head() && s.sure[i].Call <= n.end; i = s.next[i] {
			n.end = min(n.end, s.sure[i].Return)
		}
		for i := s.next[s.head()]; i != s.head() && s.sure[i].Call <= n.end; i = s.next[i] {
			u := &s.sure[i]
			if u.Kind != Get {
				n.writes = append(n.writes, i)
				continue
			}
			if h := s.held[u.Register]; h.value == u.Value && (s.told[i] < 0 || s.told[i] == h.told) {
				s.done(i)
				s.furthest = max(s.furthest, i)
				n.reads, again = append(n.reads, i), true
			}
		}
	}
	slices.SortStableFunc(n.writes, func(a, b int32) int {
		return cmp.Or(cmp.Compare(uint32(s.told[a]), uint32(s.told[b])), cmp.Compare(s.sure[a].Return, s.sure[b].Return))
	})
	return n, furthest
}

// write has a write take effect, and reports whether all else has an order then.
func (s *storeSearch) write(u *StoreOp, told int32) bool {
	h := s.held[u.Register]
	if u.Kind == CAS && h.value != u.Old || h.told >= 0 && s.revisions[h.told].reads > 0 {
		return false // who is to read what is held now could not any more
	}
	passed, gap := s.passed, s.gap
	s.depth++
	defer func() {
		s.depth--
		s.held[u.Register], s.passed, s.gap = h, passed, gap
	}()
	if told >= 0 && told != passed {
		return false
	}
	if int(passed) < len(s.revisions) {
		r := &s.revisions[passed]
		if told == passed || told < 0 && r.register == u.Register && r.value == u.Value && !r.written {
			s.held[u.Register], s.passed, s.gap = storeHeld{u.Value, passed}, passed+1, 0
			if s.goOn() || s.why != "" {
				return s.why == ""
			}
		}
	}
	if told < 0 && gap < s.room(passed) {
		s.held[u.Register], s.passed, s.gap = storeHeld{u.Value, -1}, passed, gap+1
		return s.goOn()
	}
	return false
}

// room is how many revisions there are that nobody told before one that somebody did.
func (s *storeSearch) room(n int32) uint64 {
	switch {
	case int(n) == len(s.revisions):
		return math.MaxUint64
	case n == 0:
		return s.revisions[0].number - 1
	}
	return s.revisions[n].number - s.revisions[n-1].number - 1
}

// known reports whether the search was here before, or has to end.
func (s *storeSearch) known() bool {
	var b []byte
	first := s.next[s.head()]
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(first)), uint64(max(s.furthest, first)))
	for i := first; i <= s.furthest && i != s.head(); i = s.next[i] {
		b = binary.AppendUvarint(b, uint64(i-first)+1)
	}
	b = binary.AppendUvarint(append(b, 0), uint64(s.passed))
	if int(s.passed) < len(s.revisions) { // beyond the last there is no end of room
		b = binary.AppendUvarint(b, s.gap)
	}
	for k := range s.maybe {
		if n := s.maybe[k].used; n > 0 {
			b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(k)+1), uint64(n))
		}
	}
	b = append(b, 0)
	for _, h := range s.held {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(uint32(h.value))), uint64(h.told+1))
	}
	if _, known := s.met[string(b)]; known {
		return true
	}
	s.met[string(b)] = struct{}{}
	s.steps++
	s.bytes += 2 * int64(len(b)+48)
	switch {
	case s.steps%256 == 0 && s.over():
		s.why = "time ran out in the search for an order of " + many(len(s.sure))
	case s.steps > storeSteps+storeStepsPer*len(s.sure):
		s.why = "too many orders of " + many(len(s.sure)) + " are open, as not all of them told a revision"
	case s.depth > storeDepth:
		s.why = "the search for an order of " + many(len(s.sure)) + " goes too deep"
	case s.bytes > s.most:
		s.why = fmt.Sprintf("the search for an order of %s grew beyond %d MiB", many(len(s.sure)), mebi(s.most))
	}
	return s.why != ""
}

// leastOfStore takes away whatever can be spared of operations that have no order, the last of which ended at a time. With a write goes all
// that found what it wrote in its register, so that what is left of the legal is legal.
func leastOfStore(ctx context.Context, registers []*Object, all []StoreOp, last time.Duration) []StoreOp {
	left := leastWork + leastWorkPer*len(all)
	convicts := func(part []StoreOp) bool {
		left -= len(part)
		return ctx.Err() == nil && newStoreSearch(registers, part).run(ctx, small).Answer == illegal
	}
	var early []StoreOp // what returned later may not have happened by then
	for _, u := range all {
		if u.Return > last {
			if u.Call > last || u.Kind == Get {
				continue
			}
			u.Return, u.Revision = Never, 0
		}
		early = append(early, u)
	}
	if convicts(early) {
		all = early
	}
	for size := max(len(all)/2, 1); ; size /= 2 {
		for rest := len(all); rest > 0 && ctx.Err() == nil && left > 0; rest -= size {
			from := max(len(all)-rest, 0)
			if less := withoutOfStore(all, from, min(from+size, len(all))); convicts(less) {
				all = less
			}
		}
		if size == 1 || left <= 0 {
			return all
		}
	}
}

func withoutOfStore(all []StoreOp, from, to int) []StoreOp {
	type value struct {
		register int
		value    int32
	}
	gone := map[value]bool{}
	for _, u := range all[from:to] {
		if u.Kind != Get {
			gone[value{u.Register, u.Value}] = true
		}
	}
	less := slices.Concat(all[:from], all[to:])
	for again := true; again; {
		again = false
		less = slices.DeleteFunc(less, func(u StoreOp) bool {
			sees := gone[value{u.Register, u.found()}]
			if sees && u.Kind != Get {
				gone[value{u.Register, u.Value}] = true
			}
			again = again || sees
			return sees
		})
	}
	return less
}
