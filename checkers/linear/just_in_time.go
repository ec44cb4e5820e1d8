package linear

import (
	"slices"
	"unsafe"
)

// The second search goes wide: just-in-time linearization (Lowe, "Testing for linearizability", 2017, section 3). It goes
// through the history once and keeps every configuration that may hold: what is in the object, and which of the
// operations under way have taken effect. An operation must have done so by when it returns, so that is when
// configurations make it, and no sooner. So memory grows with what overlaps, not with the history.
//
// Three things keep the configurations few. A read takes effect as soon as it can, for it changes nothing. Operations of
// unknown outcome that do the same are one kind, of which so many may be had. And of two configurations that differ in
// nothing but how many of these they have used, the one that used fewer can do all that the other can.
//
// A short cut rules out much: if there is no order although of each kind there is no end, there is none.

// wide is that search under way.
type wide[M mask] struct {
	*timeline
	usages
	limits  limits
	endless bool // operations of unknown outcome may be had as often as one likes
	slotted []int32
	busy    M
	reads   M // of busy
	had     []uint32
	now     frontier[M]
	steps   int
	cost    int64   // bytes of a configuration
	idle    certain // the last time at which the object surely was what it is at first
}

// certain is a point in the history at which only one configuration was left, and nothing under way had taken effect.
type certain struct {
	called int32   // operations before it
	busy   []int32 // of them, those under way
	usage  int32
}

// frontier is the configurations that may hold, in the order in which they were found.
type frontier[M mask] struct {
	order  []situation[M]
	usages map[situation[M]][]int32
	count  int
}

func newFrontier[M mask]() frontier[M] { return frontier[M]{usages: map[situation[M]][]int32{}} }

func newWide[M mask](t *timeline, l limits, endless bool) *wide[M] {
	w := &wide[M]{
		timeline: t, usages: newUsages(), limits: l, endless: endless,
		slotted: make([]int32, t.slots), had: make([]uint32, len(t.kinds)), now: newFrontier[M](),
		cost: 9 * int64(unsafe.Sizeof(situation[M]{})), // (measured)
	}
	w.keep(&w.now, situation[M]{holds: t.begin}, 0)
	return w
}

func (w *wide[M]) run() Found {
	from := int32(0)
	for k, i := range w.returns {
		for ; from < w.called[k]; from++ {
			w.call(from)
		}
		held, why := w.returned(i)
		if why != "" {
			return undecided(w.steps, why)
		}
		if len(w.now.order) == 0 {
			return Found{Answer: illegal, Steps: w.steps, died: i, held: held}
		}
		w.certain(from)
	}
	return ordered(w.steps)
}

// call begins an operation.
func (w *wide[M]) call(i int32) {
	u, slot := &w.uses[i], w.slot[i]
	if !u.Sure() {
		w.had[slot]++
		return
	}
	set(&w.busy, slot)
	w.slotted[slot] = i
	if !u.reads() {
		return
	}
	set(&w.reads, slot)
	next := newFrontier[M]()
	for _, s := range w.now.order {
		for _, usage := range w.now.usages[s] {
			s := s
			w.read(&s)
			w.keep(&next, s, usage)
		}
	}
	w.now = next
}

// read lets every read under way take effect that can without changing what is known.
func (w *wide[M]) read(s *situation[M]) {
	each(&w.reads, &s.done, 0, func(slot int32) bool {
		if h, ok := w.o.step(s.holds, &w.uses[w.slotted[slot]]); ok && h == s.holds {
			set(&s.done, slot)
		}
		return true
	})
}

// keep adds a configuration unless one is there that has used no more. It returns false if so.
func (w *wide[M]) keep(to *frontier[M], s situation[M], usage int32) bool {
	all, known := to.usages[s]
	for _, p := range all {
		if w.within(p, usage) {
			return false
		}
	}
	before := len(all)
	all = slices.DeleteFunc(all, func(p int32) bool { return w.within(usage, p) })
	if !known {
		to.order = append(to.order, s)
	}
	to.count += 1 + len(all) - before
	to.usages[s] = append(all, usage)
	return true
}

// returned ends an operation: it has taken effect by now. It returns what the object may have held before that; and why,
// where the search is given up.
func (w *wide[M]) returned(i int32) (held []State, why string) {
	slot := w.slot[i]
	type config struct {
		situation[M]
		usage int32
	}
	var todo []config // in the order in which they were found, so that those that did least come first
	next, met := newFrontier[M](), newFrontier[M]()
	reach := func(s situation[M], usage int32) {
		if has(&s.done, slot) {
			unset(&s.done, slot)
			w.keep(&next, s, usage)
		} else if w.keep(&met, s, usage) {
			todo = append(todo, config{s, usage})
		}
	}
	for _, s := range w.now.order {
		for _, usage := range w.now.usages[s] {
			reach(s, usage)
		}
	}
	for len(todo) > 0 {
		c := todo[0]
		todo = todo[1:]
		if len(held) < mostHeld && !slices.Contains(held, c.holds) {
			held = append(held, c.holds)
		}
		w.steps++
		if why := w.limits.reached(w.steps, int64(w.now.count+next.count+met.count)*w.cost+w.bytes, w.timeline); why != "" {
			return nil, why
		}
		each(&w.busy, &c.done, 0, func(slot int32) bool {
			j := w.slotted[slot]
			if h, ok := w.o.step(c.holds, &w.uses[j]); ok && !spare(w.timeline, j, w.slotted, &w.busy, &c.done) {
				s := situation[M]{h, c.done}
				set(&s.done, slot)
				w.read(&s)
				reach(s, c.usage)
			}
			return true
		})
		for kind, u := range w.kinds {
			if w.had[kind] == 0 || !w.endless && w.spent(c.usage, int32(kind)) >= w.had[kind] {
				continue
			}
			if h, ok := w.o.step(c.holds, &w.uses[u]); ok && h != c.holds {
				usage := c.usage
				if !w.endless {
					usage = w.spend(usage, int32(kind))
				}
				s := situation[M]{h, c.done}
				w.read(&s)
				reach(s, usage)
			}
		}
	}
	unset(&w.busy, slot)
	unset(&w.reads, slot)
	w.now = next
	return held, ""
}

// mostHeld is how many states are worth telling apart.
const mostHeld = 8

// certain takes note of it if the object surely is what it was at first.
func (w *wide[M]) certain(called int32) {
	if len(w.now.order) != 1 {
		return
	}
	s := w.now.order[0]
	if s.holds != w.begin || s.done != *new(M) || len(w.now.usages[s]) != 1 {
		return
	}
	w.idle = certain{called: called, usage: w.now.usages[s][0]}
	each(&w.busy, new(M), 0, func(slot int32) bool {
		w.idle.busy = append(w.idle.busy, w.slotted[slot])
		return true
	})
}

// since returns what was done from the last time on at which the object surely was what it is at first, until an operation
// returned. What returned later may have happened or not, for all that is known by then.
func (w *wide[M]) since(died int32) (part []Op) {
	until := w.uses[died].Return
	spent := map[int32]uint32{}
	for i := range w.uses {
		u := w.uses[i]
		if u.Call > until {
			break
		}
		if int32(i) < w.idle.called {
			if !u.Sure() {
				kind := w.slot[i]
				if spent[kind]++; spent[kind] <= w.spent(w.idle.usage, kind) {
					continue
				}
			} else if !slices.Contains(w.idle.busy, int32(i)) {
				continue
			}
		}
		if u.Return > until {
			u.Return = Never
		}
		part = append(part, u)
	}
	return part
}
