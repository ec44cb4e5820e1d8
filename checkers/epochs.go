package checkers

import (
	"iter"
	"sort"
	"time"
)

// epoch is a stretch of time in which nothing changed. It lasts until the next one begins.
type epoch struct {
	roll   roll // who votes
	from   time.Duration
	mutual []set // with whom each node is surely connected, both ways
	deaf   []set // whose packets surely do not reach each node
	up     set   // surely up
	well   set   // surely up, and in good health: with a right clock, a healthy disk, and all of its processor and memory
	able   set   // surely up, and in good health for all but its disk, of which nothing is said
	waking set   // started, in good health, but not heard of since
	still  set   // surely down or paused
	asked  set   // surely reached by clients
	fit    set   // in good health, be its process up or not
	gone   set   // who ended by itself in good health, and was not heard of since: it should be up
	office set   // who may have led, for all that is known of majorities; worked out when the history has ended
}

// mark begins an epoch with the cells as they are now.
func (w *world) mark(at time.Duration) {
	e := epoch{from: at}
	if last := len(w.epochs) - 1; last >= 0 {
		e.mutual, e.deaf = w.epochs[last].mutual, w.epochs[last].deaf
		if w.epochs[last].from == at { // it lasted no time
			if last == 0 || w.epochs[last].frees(&w.epochs[last-1]) {
				w.moments = append(w.moments, w.epochs[last])
			}
			w.epochs = w.epochs[:last]
		}
	}
	if w.links {
		w.links = false
		e.mutual, e.deaf = w.connections()
	}
	for i := range w.n {
		limps, disk := w.limps(i), w.is(disks, i)
		w.ail(i, limps || disk != fine, at)
		able := w.is(clocks, i) == fine && !limps
		right := able && disk == fine
		if right {
			e.fit.add(i)
		}
		if w.is(ways, i) == fine {
			e.asked.add(i)
		}
		switch as := w.is(memberships, i); {
		case as == fine:
			e.roll.votes.add(i)
		case as == unsure:
			e.roll.may.add(i)
		case !w.belongs(i):
			e.roll.out.add(i)
		}
		if right && w.doubts.owed.has(i) {
			e.gone.add(i)
		}
		switch is := w.is(processes, i); is {
		case fine:
			e.up.add(i)
			if able {
				e.able.add(i)
			}
			if right {
				e.well.add(i)
			}
		case waking:
			if right {
				e.waking.add(i)
			}
		case gone, quit:
			if is == gone && right {
				e.gone.add(i)
			}
			if !w.doubts.astir.has(i) {
				e.still.add(i)
			}
		case dead:
			e.still.add(i)
		}
	}
	w.enlist(at, e.roll)
	w.epochs = append(w.epochs, e)
}

// connections are those that the links' cells tell of now, as an epoch has them.
func (w *world) connections() (mutual, deaf []set) {
	rows := make([]set, 2*w.n)
	mutual, deaf = rows[:w.n], rows[w.n:]
	for i := range w.n {
		for j := range w.n {
			there, back := w.cells[i*w.n+j], w.cells[j*w.n+i]
			if i != j && there == fine && back == fine && !w.underWay.has(i*w.n+j) && !w.underWay.has(j*w.n+i) {
				mutual[i].add(j)
			}
			if i != j && back == dead {
				deaf[i].add(j)
			}
		}
	}
	for p, cell := range w.ports {
		if w.cells[cell] != fine || w.underWay.has(cell) {
			i, j := p.link/w.n, p.link%w.n
			mutual[i].remove(j)
			mutual[j].remove(i)
		}
	}
	return mutual, deaf
}

// heard are those that were in good health, and heard of.
func (e *epoch) heard() set { return e.well }

// ran are those that were in good health, and started at least.
func (e *epoch) ran() set { return e.well.or(e.waking) }

// sound are those that were in good health, be their processes up or not.
func (e *epoch) sound() set { return e.fit }

// frees reports whether somebody does not stand still, or can be heard, who did and could not in the epoch before. In virtual time a
// process that goes on does all that it has to at once: it may be ended at the same instant, and have voted.
func (e *epoch) frees(before *epoch) bool {
	if before.still.minus(e.still) != (set{}) {
		return true
	}
	for i := range e.deaf {
		if before.deaf[i].minus(e.deaf[i]) != (set{}) {
			return true
		}
	}
	return false
}

// during returns the epochs that share an instant with the closed stretch of time.
func (w *world) during(s span) []epoch {
	i := sort.Search(len(w.epochs), func(i int) bool { return w.epochs[i].from > s.from })
	j := sort.Search(len(w.epochs), func(j int) bool { return w.epochs[j].from > s.to })
	return w.epochs[max(i-1, 0):j]
}

// parts cuts s where epochs begin. Its ends may be parts of no length.
func (w *world) parts(s span) iter.Seq2[span, *epoch] {
	return func(yield func(span, *epoch) bool) {
		epochs := w.during(s)
		for k := range epochs {
			part := span{max(s.from, epochs[k].from), s.to}
			if k+1 < len(epochs) {
				part.to = epochs[k+1].from
			}
			if !yield(part, &epochs[k]) {
				return
			}
		}
	}
}

// until returns when epoch k ends.
func (w *world) until(k int, end time.Duration) time.Duration {
	if k+1 < len(w.epochs) {
		return w.epochs[k+1].from
	}
	return end
}
