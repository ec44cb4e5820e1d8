package linear

import (
	"slices"
	"unsafe"
)

// The first search goes deep: it follows one configuration to the end, and turns back where nothing is left to try. That
// is how it finds an order quickly where there are many. It never goes on from a configuration that it has met, or from
// one that has spent more than such a one.

// deep is that search under way.
type deep[M mask] struct {
	*timeline
	usages
	limits  limits
	k       int // returns before this one have been seen
	busy    M
	reads   M // of busy
	slotted []int32
	evicted []int32  // of each operation, the one that had its slot before
	had     []uint32 // how many of each kind have been called
	stack   []step[M]
	met     map[point[M]]int32   // what the configurations there have spent,
	more    map[point[M]][]int32 // and what others have
	entries int                  // in both,
	cost    int64                // and the bytes for each
	best    int                  // the furthest return that a configuration came to
}

// situation is a configuration but for what it has spent.
type situation[M mask] struct {
	holds State
	done  M // of the operations under way, those that have taken effect
}

// point is a situation at a return.
type point[M mask] struct {
	k int32
	situation[M]
}

// step is a configuration on the way, and what is to be tried next from it.
type step[M mask] struct {
	point[M]
	usage int32
	pass  int8
	next  int32
}

// What is tried from a configuration, in this order: the operation that returns next, or what makes it possible, first of
// what certainly happened and then of what may have; then all other.
const (
	itself int8 = iota
	enablers
	maybeEnablers
	others
	maybeOthers
	exhausted
)

func newDeep[M mask](t *timeline, l limits) *deep[M] {
	return &deep[M]{
		timeline: t, usages: newUsages(), limits: l, best: -1, cost: 4 * int64(unsafe.Sizeof(point[M]{})), // (measured)
		slotted: make([]int32, t.slots), evicted: make([]int32, len(t.uses)), had: make([]uint32, len(t.kinds)),
		met: map[point[M]]int32{}, more: map[point[M]][]int32{},
	}
}

func (d *deep[M]) run() Found {
	if len(d.returns) == 0 {
		return ordered(0)
	}
	d.call(0)
	d.push(situation[M]{holds: d.begin}, 0)
	steps := 0
	for len(d.stack) > 0 {
		steps++
		if why := d.limits.reached(steps, int64(d.entries)*d.cost+d.bytes, d.timeline); why != "" {
			return undecided(steps, why)
		}
		at := len(d.stack) - 1
		f := &d.stack[at]
		for d.k > int(f.k) {
			d.back()
		}
		i := d.returns[d.k]
		if slot := d.slot[i]; has(&f.done, slot) && f.pass == itself {
			f.pass = exhausted
			if d.k+1 == len(d.returns) {
				return ordered(steps)
			}
			s, usage := f.situation, f.usage
			unset(&s.done, slot)
			d.forward()
			d.push(s, usage)
			continue
		}
		if s, usage, ok := d.choose(f, i); ok {
			d.push(s, usage)
			continue
		}
		d.stack = d.stack[:at]
	}
	return Found{Answer: illegal, Steps: steps, died: d.returns[d.best]}
}

// forward goes on to the next return.
func (d *deep[M]) forward() {
	slot := d.slot[d.returns[d.k]]
	unset(&d.busy, slot)
	unset(&d.reads, slot)
	d.k++
	d.call(d.called[d.k-1])
}

// call takes note of what was called by the return that is next.
func (d *deep[M]) call(from int32) {
	for j := from; j < d.called[d.k]; j++ {
		slot := d.slot[j]
		if !d.uses[j].Sure() {
			d.had[slot]++
			continue
		}
		d.evicted[j], d.slotted[slot] = d.slotted[slot], j
		set(&d.busy, slot)
		if d.uses[j].reads() {
			set(&d.reads, slot)
		}
	}
}

// back goes back to the return before.
func (d *deep[M]) back() {
	from := int32(0)
	if d.k > 0 {
		from = d.called[d.k-1]
	}
	for j := d.called[d.k] - 1; j >= from; j-- {
		slot := d.slot[j]
		if !d.uses[j].Sure() {
			d.had[slot]--
			continue
		}
		d.slotted[slot] = d.evicted[j]
		unset(&d.busy, slot)
		unset(&d.reads, slot)
	}
	d.k--
	i := d.returns[d.k]
	set(&d.busy, d.slot[i])
	if d.uses[i].reads() {
		set(&d.reads, d.slot[i])
	}
}

// push goes on to a configuration unless one is known that can do all that it can.
func (d *deep[M]) push(s situation[M], usage int32) {
	each(&d.reads, &s.done, 0, func(slot int32) bool { // a read takes effect as soon as it can, for it changes nothing
		if h, ok := d.o.step(s.holds, &d.uses[d.slotted[slot]]); ok && h == s.holds {
			set(&s.done, slot)
		}
		return true
	})
	p := point[M]{int32(d.k), s}
	if first, known := d.met[p]; !known {
		d.met[p] = usage
	} else {
		if d.within(first, usage) || slices.ContainsFunc(d.more[p], func(o int32) bool { return d.within(o, usage) }) {
			return
		}
		d.more[p] = append(d.more[p], usage)
	}
	d.entries++
	d.best = max(d.best, d.k)
	d.stack = append(d.stack, step[M]{point: p, usage: usage})
}

// choose returns the next of what can be tried from a configuration, before the i-th operation returns.
func (d *deep[M]) choose(f *step[M], i int32) (next situation[M], usage int32, found bool) {
	target := &d.uses[i]
	take := func(slot int32) bool {
		j := d.slotted[slot]
		if j == i || spare(d.timeline, j, d.slotted, &d.busy, &f.done) {
			return true
		}
		h, ok := d.o.step(f.holds, &d.uses[j])
		if !ok {
			return true
		}
		if _, enables := d.o.step(h, target); enables != (f.pass == enablers) {
			return true
		}
		next, usage, found = situation[M]{h, f.done}, f.usage, true
		set(&next.done, slot)
		f.next = slot + 1
		return false
	}
	for ; f.pass < exhausted; f.pass, f.next = f.pass+1, 0 {
		switch f.pass {
		case itself:
			if h, ok := d.o.step(f.holds, target); ok {
				next, usage = situation[M]{h, f.done}, f.usage
				set(&next.done, d.slot[i])
				f.pass = enablers
				return next, usage, true
			}
		case enablers, others:
			if int(f.next) < d.slots {
				if each(&d.busy, &f.done, f.next, take); found {
					return next, usage, true
				}
			}
		default:
			for kind := f.next; int(kind) < len(d.kinds); kind++ {
				if d.had[kind] == 0 || d.spent(f.usage, kind) >= d.had[kind] {
					continue
				}
				h, ok := d.o.step(f.holds, &d.uses[d.kinds[kind]])
				if !ok || h == f.holds {
					continue
				}
				if _, enables := d.o.step(h, target); enables != (f.pass == maybeEnablers) {
					continue
				}
				f.next = kind + 1
				return situation[M]{h, f.done}, d.spend(f.usage, kind), true
			}
		}
	}
	return next, 0, false
}
