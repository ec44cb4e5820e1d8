package checkers

import "time"

// Nodes that are asked again and again, and say the same for hours, tell nothing new. Of such a stretch of calm only the
// answers at its beginning and at its end are kept, so that a long history takes memory for what happened in it, and not for
// how long it was.
//
// Calm is a time in which nothing stirred: no fault, exit, stall or request, no announcement, no answer that said anything else
// than the one of its node before or came later than it may. What is left out of it answers no question that checkers ask:
// all times that they look at begin and end where something stirred, or no farther from that than the margins, and an answer
// that was left out, unlike the one that stands before it now, was no farther from its neighbours than near.

// leftOut counts the answers that were left out, by what is counted of them.
type leftOut struct {
	tells  int // that said something of a term, and whose node surely was who it is
	lower  int // of them, those whose node had reported a higher one before
	claims int // that claimed to lead in a term
}

// So many answers in calm are worth a look, and so many more another. Tests make them few.
var muchCalm, moreCalm = 1024, 4096

// margins are how far behind something that stirred, and how far before, times may lie that checkers look at: an election
// may have to be over since the machine stood still, and a leader must have had its majority for long enough.
func (f *facts) margins() (behind, before time.Duration) {
	b := f.setup.Bounds
	return b.Elect + 2*b.Silence + 2*f.lull(), f.settled() + 2*b.Silence + 2*f.lull()
}

// dulls reports whether an answer says the same as the last of its node, and soon after it.
func (g *gathering) dulls(a *answer) bool {
	s := &g.seen[a.node]
	v := &s.view
	return a.polled && !a.torn && s.up && v.polled && a.role == v.role && a.term == v.term && a.tenure == v.tenure &&
		a.leader == v.leader && a.to-v.from <= g.near() && (g.numbered() || a.from-v.to <= g.sight())
}

// near is how far two answers that say the same may lie apart for nothing that any checker looks for to be missed between them.
func (f *facts) near() time.Duration { return min(f.lull(), f.setup.Bounds.Elect) }

// stir ends a calm.
func (g *gathering) stir(at time.Duration) {
	if len(g.answers)-g.calm > muchCalm {
		g.thin(at)
	}
	g.stirred, g.calm, g.looked = at, len(g.answers), len(g.answers)
}

// settle looks now and then whether there is much calm.
func (g *gathering) settle(now time.Duration) {
	if last := g.world.epochs[len(g.world.epochs)-1].from; last > g.stirred {
		g.stir(last)
	}
	if len(g.answers)-g.looked > moreCalm {
		g.thin(now)
		g.looked = len(g.answers)
	}
}

// thin leaves out the answers in the midst of the calm that lasts until a time: they are dull, for what is not comes as a calm
// begins. Of those that come behind them, only the last claims of leaderships are known by their numbers: all else that is told of
// leaderships stirs, or comes soon after what did.
func (g *gathering) thin(until time.Duration) {
	from := g.stirred
	for n := range g.seen {
		if s := &g.seen[n]; until-s.last.to > g.lull() {
			from = max(from, s.last.to) // somebody has fallen silent
		}
	}
	behind, before := g.margins()
	within := span{from + behind, until - before}
	kept := g.calm
	for i := g.calm; i < len(g.answers); i++ {
		a := &g.answers[i]
		if a.to > within.from && a.to < within.to {
			g.leave(a, 1)
			continue
		}
		if a.lead >= 0 && g.leads[a.lead].last == int32(i) {
			g.leads[a.lead].last = int32(kept)
		}
		g.answers[kept] = *a
		kept++
	}
	g.answers = g.answers[:kept]
}

// leave counts so many answers that are left out, each like this one.
func (g *gathering) leave(a *answer, many int) {
	if s := &g.seen[a.node]; a.tells() && a.from > s.another {
		g.left.tells += many
		if a.term < s.highest {
			g.left.lower += many
		}
	}
	if a.claims() && a.term != 0 {
		g.left.claims += many
	}
}
