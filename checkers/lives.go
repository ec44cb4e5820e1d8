package checkers

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"recount/history"
)

// Lives: a node's processes follow each other, and what one of them was is over when it ends. An answer that came before the next one
// may have been started is of one that ran before, however late the end was told.

// death is the end of a node's process, at some instant of a span.
type death struct {
	span                  // to is never while nothing is known of what came of it
	again   time.Duration // since when it may have been started again; never if nothing has
	answer  int32         // that tells of it, in answers; -1 if nobody knows whether it ended
	perhaps bool          // nobody does
}

// threaten takes note of whose process may end by what the nemesis sets out to do, and who may be started.
func (g *gathering) threaten(at time.Duration, intended []history.Changes) {
	renewing := g.world.renewing()
	threatened := renewing
	for _, c := range intended {
		g.processes(c, func(n int, s history.ProcState) {
			if s.Ended() {
				threatened.add(n)
			}
		})
	}
	threatened.each(func(n int) {
		s := &g.seen[n]
		s.highest, s.stands = s.heard, -1
		s.deaths = append(s.deaths, death{span{at, never}, s.again(at), -1, true}) // until it is known better
	})
	renewing.each(func(n int) { g.seen[n].starts(at) })
	for _, c := range intended {
		g.processes(c, func(n int, s history.ProcState) {
			if s == history.Up {
				g.seen[n].starts(at)
			}
		})
	}
}

// processes calls f for each node whose process changes name, strangers apart.
func (g *gathering) processes(c history.Changes, f func(n int, s history.ProcState)) {
	for _, p := range c.Procs {
		if n := history.Place(g.nodes, p.Node); n >= 0 {
			f(n, p.State)
		}
	}
}

// starts takes note that a node's process may be started from a time on.
func (w *watched) starts(at time.Duration) {
	w.starting, w.late = true, false
	for k := len(w.deaths) - 1; k >= 0 && w.deaths[k].again == never; k-- {
		w.deaths[k].again = at
	}
}

// settles takes note that it is known by a time what became of a node's process.
func (w *watched) settles(at time.Duration) {
	for k := w.settled; k < len(w.deaths); k++ {
		w.deaths[k].to = min(w.deaths[k].to, at)
		w.gone = max(w.gone, w.deaths[k].to)
	}
	w.starting, w.settled, w.known = false, len(w.deaths), at
}

// doomed reports whether an op may have ended a node's process at a time of which nobody knew until then what came, be it that the node had
// none when it began.
func (w *watched) doomed(at time.Duration) bool {
	open := w.deaths
	if w.known < at {
		open = open[w.settled:]
	}
	return slices.ContainsFunc(open, func(d death) bool { return d.perhaps && d.to >= at })
}

// dies takes note that a node's process surely ended in a time, as an answer tells: by itself, or by what the nemesis did.
func (w *watched) dies(s span, by int32, itself bool) {
	w.highest, w.gone = w.heard, max(w.gone, s.to)
	for k := len(w.deaths) - 1; !itself && k >= 0 && w.deaths[k].from >= s.from; k-- {
		if d := w.deaths[k]; d.perhaps {
			d.answer, d.perhaps = by, false
			w.deaths = append(slices.Delete(w.deaths, k, k+1), d) // it came after those that were told of meanwhile
			return
		}
	}
	w.deaths = append(w.deaths, death{s, w.again(s.from), by, false})
}

// again is since when a process may be started that ends at a time, or later, for all that is known then.
func (w *watched) again(at time.Duration) time.Duration {
	if w.starting {
		return at
	}
	return never
}

// lives takes note that a node answered what it was asked at a time, or announced something then. If it surely had ended by then, be it at
// that instant, and nothing was to start it, something else did, nobody knows when.
func (w *watched) lives(asked time.Duration) {
	for k := len(w.deaths) - 1; k >= 0 && w.deaths[k].again == never; k-- {
		if d := &w.deaths[k]; d.to <= asked {
			d.again = d.from
		}
	}
}

// born is since when the process may have run, at the earliest, that a node had at a time or later, if others surely had ended before; else 0.
func (w *watched) born(by time.Duration) (since time.Duration) {
	for _, d := range w.deaths {
		if !d.perhaps && d.to < by && d.again != never {
			since = max(since, d.again)
		}
	}
	return since
}

// renewing are the nodes that are being started anew, as other members than they were.
func (w *world) renewing() (nodes set) {
	for _, t := range w.touch {
		if i := w.whose(memberships, t.cell); i >= 0 && t.to != dead {
			nodes.add(i)
		}
	}
	return nodes
}

// outlived returns the death that surely came after a claim of a leadership, and before another claim of its node; nil if there is none.
func (f *facts) outlived(l *leadership, a *answer) *death {
	all := f.seen[l.node].deaths
	for k := len(all) - 1; k >= 0; k-- {
		d := &all[k]
		switch {
		case d.perhaps || d.to >= f.surely(a):
		case f.answers[l.first].to < d.again:
			return d
		default: // those before it were followed by a start before
			return nil
		}
	}
	return nil
}

// reborn is since when the life of a node may have been that it had at a time, if it may have had another before; else 0.
func (f *facts) reborn(node int, by time.Duration) (since time.Duration) {
	for _, d := range slices.Backward(f.seen[node].deaths) {
		switch {
		case d.perhaps && d.from <= by:
			since = max(since, d.from) // by something else
		case d.again <= by: // as for all before it
			return max(since, d.again)
		}
	}
	return since
}

// ends are the deaths of a node in the order of their ends. After what may have been the start after one of them, no other may follow that came
// before it. Those of which nobody knows whether they were are counted, or left out.
func (f *facts) ends(node int, perhaps bool) (ends []death) {
	for _, d := range f.seen[node].deaths {
		if d.perhaps {
			d.again = d.from // by something else, if it was
		}
		if perhaps || !d.perhaps {
			ends = append(ends, d)
		}
	}
	slices.SortFunc(ends, func(a, b death) int { return cmp.Compare(a.to, b.to) })
	for k := len(ends) - 2; k >= 0; k-- {
		ends[k].again = min(ends[k].again, ends[k+1].again)
	}
	return ends
}

// lifetimes returns what tells before when an answer has to have come to be surely of the same life of a node as one that was asked for at a
// time, or of an earlier one.
func (f *facts) lifetimes(node int, perhaps bool) func(asked time.Duration) time.Duration {
	ends := f.ends(node, perhaps)
	return func(asked time.Duration) time.Duration {
		k := sort.Search(len(ends), func(k int) bool { return ends[k].to >= asked })
		if k == len(ends) {
			return never
		}
		return ends[k].again
	}
}
