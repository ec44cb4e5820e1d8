package linear

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// The decision whether uses of one object can be put in an order: just-in-time linearization (Lowe, "Testing for
// linearizability", 2017, section 3). It goes through the history once and keeps every configuration that may hold: what
// is in the object, and which of the uses under way have taken effect. A use must have done so by when it returns, so
// that is when configurations make it, and no sooner. So memory grows with what overlaps, not with the history.
//
// Three things keep the configurations few. A read takes effect as soon as it can, for it changes nothing. Uses of unknown
// outcome that do the same are one kind, of which so many may be had. And of two configurations that differ in nothing but
// how many of these they have spent, the thrifty one can do all that the other can.
//
// Two short cuts come before the search of all: if there is an order among the configurations that did least so far, there
// is one; and if there is none although of each kind there is no end, there is none.

// Found is what became of a search for an order.
type Found struct {
	Answer porcupine.CheckResult
	Why    string // of unknown
	holds  State  // of illegal: what the object surely held at some time,
	core   []Op   // and what was done from there on that has no order,
	done   []Op   // after this;
	whole  []Op   // all that was done up to the end of it
	Steps  int    // configurations that the search went through
}

// mostAtOnce is how many uses may be under way at once whose outcome is known.
const mostAtOnce = 128

// mask is a set of places of uses under way.
type mask [mostAtOnce / 64]uint64

func (m *mask) set(i int)     { m[i/64] |= 1 << (i % 64) }
func (m *mask) clear(i int)   { m[i/64] &^= 1 << (i % 64) }
func (m mask) has(i int) bool { return m[i/64]>>(i%64)&1 != 0 }
func (m mask) free() (i int) { // the lowest place that is not taken, mostAtOnce if all are
	for k, w := range m {
		if w != ^uint64(0) {
			return k*64 + bits.TrailingZeros64(^w)
		}
	}
	return mostAtOnce
}

// situation is a configuration but for what it has spent.
type situation struct {
	holds State
	done  mask // of the uses under way, those that have taken effect
}

// configCost is about how many bytes a configuration takes.
const configCost = 160

// linearizing is the search under way.
type linearizing struct {
	o       *Object
	uses    []Op // in order of their calls
	slots   [mostAtOnce]int32
	busy    mask
	reads   mask  // of busy, the reads
	kinds   []int // a use of each kind of unknown outcome
	had     []int // how many of each have been called
	kindOf  map[Op]int
	purses  []string // what may have been spent: a count a kind
	purse   map[string]int32
	now     frontier
	endless bool // uses of unknown outcome may be had as often as one likes
	most    int  // steps of such a search
	beam    int  // how many configurations are kept at most; 0 for all
	pruned  bool // some were not
	steps   int
	spent   int64 // bytes for purses
	budget  int64
	capped  bool // more uses of one kind than can be counted
	certain certain
	atCall  int // uses before this one have been called
}

// frontier is the configurations that may hold, in the order in which they were found.
type frontier struct {
	order  []situation
	purses map[situation][]int32
}

func newFrontier() frontier { return frontier{purses: map[situation][]int32{}} }

func (f *frontier) len() int { return len(f.order) }

// each calls yield with every configuration.
func (f *frontier) each(yield func(situation, int32)) {
	for _, s := range f.order {
		for _, p := range f.purses[s] {
			yield(s, p)
		}
	}
}

// certain is a point in the history at which only one configuration was left.
type certain struct {
	situation
	purse  int32
	slots  [mostAtOnce]int32
	busy   mask
	atCall int
}

// How far the short cuts go: configurations of the first, and what each may have spent; steps of the second.
const (
	beamWidth    = 64
	beamPurses   = 4
	endlessSteps = 1 << 20 // and 200 for each operation
)

// linearize looks for an order of uses, which are in order of their calls, that begins with what an object holds.
func linearize(ctx context.Context, o *Object, uses []Op, begin State, budget int64) (found Found) {
	steps := 0
	search := func(beam int, endless bool, budget int64) (pruned bool) {
		l := newLinearizing(o, uses, begin, budget)
		l.beam, l.endless = beam, endless
		found = l.run(ctx)
		steps += l.steps
		found.Steps = steps
		return l.pruned
	}
	pruned := search(beamWidth, false, budget/8)
	if found.Answer == porcupine.Ok || found.Answer == porcupine.Illegal && !pruned {
		return found
	}
	// (Without an end of writes there would be none of revisions either.)
	if !o.counted && slices.ContainsFunc(uses, func(u Op) bool { return !u.Sure() }) {
		if search(0, true, budget/8); found.Answer == porcupine.Illegal {
			return found
		}
	}
	search(0, false, budget)
	return found
}

func newLinearizing(o *Object, uses []Op, begin State, budget int64) *linearizing {
	l := &linearizing{
		o: o, uses: uses, kindOf: map[Op]int{}, purses: []string{""}, purse: map[string]int32{"": 0},
		now: newFrontier(), most: endlessSteps + 200*len(uses), budget: budget,
		certain: certain{situation: situation{holds: begin}},
	}
	l.keep(&l.now, situation{holds: begin}, 0)
	return l
}

func (l *linearizing) run(ctx context.Context) Found {
	uses := l.uses
	returns := make([]int, 0, len(uses))
	for i := range uses {
		if uses[i].Sure() {
			returns = append(returns, i)
		}
	}
	slices.SortStableFunc(returns, func(a, b int) int { return cmp.Compare(uses[a].Return, uses[b].Return) })
	for _, i := range returns {
		for l.atCall < len(uses) && uses[l.atCall].Call <= uses[i].Return {
			if !l.called(l.atCall) {
				return Found{Answer: porcupine.Unknown, Why: fmt.Sprintf("more than %d operations overlap", mostAtOnce)}
			}
			l.atCall++
		}
		if why := l.returned(ctx, i); why != "" {
			return Found{Answer: porcupine.Unknown, Why: why}
		}
		switch {
		case l.now.len() > 0:
		case l.capped:
			return Found{Answer: porcupine.Unknown, Why: "more than 255 operations of unknown outcome do the same"}
		default:
			until := uses[i].Return
			found := Found{Answer: porcupine.Illegal, holds: l.certain.holds}
			found.core, found.done = l.since(&l.certain, until)
			found.whole, _ = l.since(new(certain), until)
			return found
		}
	}
	return Found{Answer: porcupine.Ok}
}

// called begins a use.
func (l *linearizing) called(i int) bool {
	u := &l.uses[i]
	if !u.Sure() {
		like := u.like()
		k, known := l.kindOf[like]
		if !known {
			k = len(l.kinds)
			l.kindOf[like] = k
			l.kinds, l.had = append(l.kinds, i), append(l.had, 0)
		}
		l.had[k]++
		return true
	}
	slot := l.busy.free()
	if slot == mostAtOnce {
		return false
	}
	l.busy.set(slot)
	l.slots[slot] = int32(i)
	if u.Kind != Get {
		return true
	}
	l.reads.set(slot)
	next := newFrontier()
	l.now.each(func(s situation, purse int32) {
		l.read(&s)
		l.keep(&next, s, purse)
	})
	l.now = next
	return true
}

// read lets every read under way take effect that can without changing what is known.
func (l *linearizing) read(s *situation) {
	for k, w := range l.reads {
		for w &^= s.done[k]; w != 0; w &= w - 1 {
			slot := k*64 + bits.TrailingZeros64(w)
			if h, ok := l.o.step(s.holds, &l.uses[l.slots[slot]]); ok && h == s.holds {
				s.done.set(slot)
			}
		}
	}
}

// keep adds a configuration unless a thriftier one is there. It returns false if so.
func (l *linearizing) keep(to *frontier, s situation, purse int32) bool {
	all, known := to.purses[s]
	for _, p := range all {
		if l.within(p, purse) {
			return false
		}
	}
	if l.beam > 0 && len(all) >= beamPurses {
		l.pruned = true
		return false
	}
	all = slices.DeleteFunc(all, func(p int32) bool { return l.within(purse, p) })
	if !known {
		to.order = append(to.order, s)
	}
	to.purses[s] = append(all, purse)
	return true
}

// within reports whether one purse has spent no more of anything than another.
func (l *linearizing) within(a, b int32) bool {
	if a == b {
		return true
	}
	p, q := l.purses[a], l.purses[b]
	for k := range len(p) {
		if k >= len(q) || p[k] > q[k] { // (a purse does not end with a kind that was not spent)
			return false
		}
	}
	return true
}

// spend returns a purse after one more use of a kind, and false if there is none left.
func (l *linearizing) spend(purse int32, k int) (int32, bool) {
	if l.endless {
		return purse, true
	}
	p := []byte(l.purses[purse])
	for len(p) <= k {
		p = append(p, 0)
	}
	switch {
	case p[k] == 255:
		l.capped = true
		return 0, false
	case int(p[k]) >= l.had[k]:
		return 0, false
	}
	p[k]++
	id, known := l.purse[string(p)]
	if !known {
		id = int32(len(l.purses))
		l.purses = append(l.purses, string(p))
		l.purse[string(p)] = id
		l.spent += int64(2*len(p)) + configCost
	}
	return id, true
}

// returned ends a use: it has taken effect by now. Where the search is given up, it says why.
func (l *linearizing) returned(ctx context.Context, i int) (why string) {
	slot := 0
	for !l.busy.has(slot) || int(l.slots[slot]) != i {
		slot++
	}
	type config struct {
		situation
		purse int32
	}
	var todo []config // in the order in which they were found, so that those that did least come first
	next, met := newFrontier(), newFrontier()
	reach := func(s situation, purse int32) {
		if s.done.has(slot) {
			s.done.clear(slot)
			l.keep(&next, s, purse)
		} else if l.keep(&met, s, purse) {
			todo = append(todo, config{s, purse})
		}
	}
	l.now.each(reach)
	for len(todo) > 0 {
		if l.beam > 0 && next.len() >= l.beam {
			l.pruned = true
			break
		}
		c := todo[0]
		todo = todo[1:]
		if l.steps++; l.steps%1024 == 0 && ctx.Err() != nil || l.endless && l.steps > l.most {
			return "time ran out in the search for an order of " + many(len(l.uses))
		}
		if int64(l.now.len()+next.len()+met.len())*configCost+l.spent > l.budget {
			return fmt.Sprintf("the search for an order of %s grew beyond %d MiB", many(len(l.uses)), l.budget>>20)
		}
		for k, w := range l.busy {
			for w &^= c.done[k]; w != 0; w &= w - 1 {
				j := k*64 + bits.TrailingZeros64(w)
				if h, ok := l.o.step(c.holds, &l.uses[l.slots[j]]); ok {
					s := situation{h, c.done}
					s.done.set(j)
					l.read(&s)
					reach(s, c.purse)
				}
			}
		}
		for k, u := range l.kinds {
			if h, _ := l.o.step(c.holds, &l.uses[u]); h != c.holds {
				if purse, left := l.spend(c.purse, k); left {
					s := situation{h, c.done}
					l.read(&s)
					reach(s, purse)
				}
			}
		}
	}
	l.busy.clear(slot)
	l.reads.clear(slot)
	l.now = next
	if next.len() == 1 { // (or the others were pruned: then all is searched again, should this search rule it out)
		if s := next.order[0]; len(next.purses[s]) == 1 {
			l.certain = certain{s, next.purses[s][0], l.slots, l.busy, l.atCall}
		}
	}
	return ""
}

// since returns what was done from a point on until a time, and what before it. The former is what was under way then, and
// what has begun since. What returned later may have happened or not, for all that is known by then.
func (l *linearizing) since(c *certain, until time.Duration) (core, done []Op) {
	spent := slices.Clone([]byte(l.purses[c.purse]))
	for i := range l.uses {
		u := l.uses[i]
		if u.Call > until {
			break
		}
		if i < c.atCall {
			if !u.Sure() {
				k := l.kindOf[u.like()]
				if k < len(spent) && spent[k] > 0 {
					spent[k]--
					done = append(done, u)
					continue
				}
			} else if !c.waits(i) {
				done = append(done, u)
				continue
			}
		}
		if u.Return > until {
			if u.Kind == Get {
				continue
			}
			u.Return = Never
		}
		core = append(core, u)
	}
	return core, done
}

// waits reports whether a use was under way and had not taken effect.
func (c *certain) waits(i int) bool {
	for slot := range c.slots {
		if c.busy.has(slot) && int(c.slots[slot]) == i {
			return !c.done.has(slot)
		}
	}
	return false
}

// many writes how many operations there are.
func many(n int) string {
	if n == 1 {
		return "1 operation"
	}
	return fmt.Sprintf("%d operations", n)
}
