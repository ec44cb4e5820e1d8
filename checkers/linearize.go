package checkers

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"time"
)

// The decision whether uses of one object can be put in an order: just-in-time linearization (Lowe, "Testing for
// linearizability", 2017, section 3). It goes through the history once and keeps every configuration that may hold: what
// is in the object, and which of the uses under way have taken effect. A use must have done so by when it returns, so
// that is when configurations make it, and no sooner. So memory grows with what overlaps, not with the history.
//
// Three things keep the configurations few. A read takes effect as soon as it can, for it changes nothing. Uses of unknown
// outcome that do the same are one kind, of which so many may be had. And of two configurations that differ in nothing but
// how many of these they have spent, the thrifty one can do all that the other can.

// ordering is what became of a search for an order.
type ordering struct {
	answer Verdict
	why    string   // of unknown
	holds  holding  // of invalid: what the object surely held at some time,
	core   []action // and what was done from there on that has no order
	whole  []action // all that was done up to the end of it
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
	holds holding
	done  mask // of the uses under way, those that have taken effect
}

// configCost is about how many bytes a configuration takes.
const configCost = 160

// linearizing is the search under way.
type linearizing struct {
	o       *object
	uses    []action // in order of their calls
	slots   [mostAtOnce]int32
	busy    mask
	reads   mask  // of busy, the reads
	kinds   []int // a use of each kind of unknown outcome
	had     []int // how many of each have been called
	kindOf  map[action]int
	purses  []string // what may have been spent: a count a kind
	purse   map[string]int32
	now     map[situation][]int32
	steps   int
	spent   int64 // bytes for purses
	budget  int64
	capped  bool // more uses of one kind than can be counted
	certain certain
	atCall  int // uses before this one have been called
}

// certain is a point in the history at which only one configuration was left.
type certain struct {
	situation
	purse  int32
	slots  [mostAtOnce]int32
	busy   mask
	atCall int
}

// linearize looks for an order of uses, which are in order of their calls, that begins with what an object holds.
func linearize(ctx context.Context, o *object, uses []action, begin holding, budget int64) ordering {
	l := &linearizing{
		o: o, uses: uses, kindOf: map[action]int{}, purses: []string{""}, purse: map[string]int32{"": 0},
		now: map[situation][]int32{{holds: begin}: {0}}, budget: budget, certain: certain{situation: situation{holds: begin}},
	}
	returns := make([]int, 0, len(uses))
	for i := range uses {
		if uses[i].sure() {
			returns = append(returns, i)
		}
	}
	slices.SortFunc(returns, func(a, b int) int { return cmp.Compare(uses[a].ret, uses[b].ret) })
	for _, i := range returns {
		for l.atCall < len(uses) && uses[l.atCall].call <= uses[i].ret {
			if !l.called(l.atCall) {
				return ordering{why: fmt.Sprintf("more than %d operations overlap", mostAtOnce)}
			}
			l.atCall++
		}
		if why := l.returned(ctx, i); why != "" {
			return ordering{why: why}
		}
		if len(l.now) == 0 && l.capped {
			return ordering{why: "more than 255 operations of unknown outcome do the same"}
		}
		if len(l.now) == 0 {
			return ordering{answer: Invalid, holds: l.certain.holds, core: l.since(&l.certain, uses[i].ret), whole: l.since(new(certain), uses[i].ret)}
		}
	}
	return ordering{answer: Valid}
}

// called begins a use.
func (l *linearizing) called(i int) bool {
	u := &l.uses[i]
	if !u.sure() {
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
	if u.kind != get {
		return true
	}
	l.reads.set(slot)
	next := map[situation][]int32{}
	for s, purses := range l.now {
		l.read(&s)
		for _, p := range purses {
			l.keep(next, s, p)
		}
	}
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
func (l *linearizing) keep(to map[situation][]int32, s situation, purse int32) bool {
	all := to[s]
	for _, p := range all {
		if l.within(p, purse) {
			return false
		}
	}
	if len(all) > 0 && len(l.kinds) > 0 {
		all = slices.DeleteFunc(all, func(p int32) bool { return l.within(purse, p) })
	}
	to[s] = append(all, purse)
	return true
}

// within reports whether one purse has spent no more of anything than another.
func (l *linearizing) within(a, b int32) bool {
	if a == b {
		return true
	}
	p, q := l.purses[a], l.purses[b]
	for k := range len(p) {
		if p[k] > 0 && (k >= len(q) || p[k] > q[k]) {
			return false
		}
	}
	return true
}

// spend returns a purse after one more use of a kind, and false if there is none left.
func (l *linearizing) spend(purse int32, k int) (int32, bool) {
	p := []byte(l.purses[purse])
	for len(p) <= k {
		p = append(p, 0)
	}
	if p[k] == 255 || int(p[k]) >= l.had[k] {
		l.capped = l.capped || p[k] == 255
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
	var todo []config
	next, met := map[situation][]int32{}, map[situation][]int32{}
	reach := func(s situation, purse int32) {
		if s.done.has(slot) {
			s.done.clear(slot)
			l.keep(next, s, purse)
		} else if l.keep(met, s, purse) {
			todo = append(todo, config{s, purse})
		}
	}
	for s, purses := range l.now {
		for _, p := range purses {
			reach(s, p)
		}
	}
	for len(todo) > 0 {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if l.steps++; l.steps%1024 == 0 && ctx.Err() != nil {
			return "time ran out in the search for an order of " + count(len(l.uses), "operation")
		}
		if int64(len(l.now)+len(next)+len(met))*configCost+l.spent > l.budget {
			return fmt.Sprintf("the search for an order of %s grew beyond %d MiB", count(len(l.uses), "operation"), l.budget>>20)
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
			if h, ok := l.o.step(c.holds, &l.uses[u]); ok && h != c.holds {
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
	if len(next) == 1 {
		for s, purses := range next {
			if len(purses) == 1 {
				l.certain = certain{s, purses[0], l.slots, l.busy, l.atCall}
			}
		}
	}
	return ""
}

// since returns what was done from a point on until a time: what was under way then, and what has begun since. What returned later may have happened or not, for all that is known by then.
func (l *linearizing) since(c *certain, until time.Duration) (core []action) {
	spent := slices.Clone([]byte(l.purses[c.purse]))
	for i := range l.uses {
		u := l.uses[i]
		if u.call > until {
			break
		}
		if i < c.atCall {
			if !u.sure() {
				k := l.kindOf[u.like()]
				if k < len(spent) && spent[k] > 0 {
					spent[k]--
					continue
				}
			} else if !c.waits(i) {
				continue
			}
		}
		if u.ret > until {
			if u.kind == get {
				continue
			}
			u.ret = never
		}
		core = append(core, u)
	}
	return core
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
