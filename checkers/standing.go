package checkers

import (
	"sort"
	"time"

	"recount/history"
)

// Where log lines are standing, a node says again and again what it announced last, until it announces or answers something else: at each
// whole multiple of a third of a lull.

// mostRepeats is gathering.mostRepeats if nothing else is said.
const mostRepeats = 1 << 16

// stand has nodes repeat until a time what they announced last, where that holds.
func (g *gathering) stand(until time.Duration) {
	every := max(g.lull()/3, time.Millisecond)
	for times := 1; g.stood+every < until; times++ {
		if times%g.mostRepeats == 0 {
			every = max(every, (until-g.stood)/time.Duration(g.mostRepeats))
		}
		g.leap(every, until)
		g.stood += every
		for n := range g.seen {
			if g.repeats(n) {
				g.repeat(n, g.stood, false)
			}
		}
	}
}

// stands has a node repeat from now on what it has just announced. One that surely does not run, or stands still, may have announced it
// before that, and its line was read late: nothing is sure of it but that the node may run again. So it is with further lines, until the
// node answers what it is asked, or is to be started; and with a line of one that is being ended or stopped, or may be yet.
func (g *gathering) stands(n int) {
	s := &g.seen[n]
	s.stands = s.said
	s.late = s.late || g.world.still(n)
	s.doubted = g.otherwise(s.said) + g.lull()
	late := s.late || g.world.threatened(n) || n >= g.world.n && s.doomed(g.answers[s.said].to)
	if g.repeat(n, g.answers[s.said].to, late); late {
		s.stands = -1
	}
}

// otherwise returns when a node last gave an answer that says something else than what it announced not a lull later: that may be the older
// of the two, and another line on its way.
func (g *gathering) otherwise(said int32) time.Duration {
	line := &g.answers[said]
	for k := said - 1; k >= 0 && g.answers[k].to > line.to-g.lull(); k-- {
		if a := &g.answers[k]; a.node == line.node && a.polled && !a.repeats && !a.ended && a.contradicts(line) {
			return a.to
		}
	}
	return -never
}

// retold is that a node told something else than its log line said that stood until then.
type retold struct {
	since time.Duration // that line may have been over from then on
	by    int32         // what it told, in answers
}

// retells takes note of it if a node tells something else than it announced last. A log line may be read late, by up to a lull: so what
// stood until then may have been over before, and what a node is asked before it is read and answers then may be the older of the two.
func (g *gathering) retells(s *watched, a *answer) {
	switch {
	case s.said < 0 || a.polled && s.stands < 0:
		return
	case !a.polled && a.torn: // whatever that was
	case !a.polled && !a.differs(&g.answers[s.said]):
		return
	case a.polled && !a.contradicts(&g.answers[s.stands]):
		return
	case a.polled && a.from <= g.answers[s.stands].to:
		s.doubted = a.to + g.lull()
		return
	}
	s.retold = append(s.retold, retold{a.to - g.lull(), int32(len(g.answers))})
	s.stands = -1
}

// contradicts reports whether an answer says something else than what its node announced, in one piece or not. One that tells no role says
// nothing by naming no leader or no term.
func (a *answer) contradicts(said *answer) bool {
	if a.role == history.UnknownRole || a.role == history.Server {
		return a.term != 0 && a.term != said.term || a.leader != 0 && a.leader != said.leader
	}
	return a.differs(said)
}

// differs reports whether two answers tell of different things.
func (a *answer) differs(said *answer) bool {
	return a.role != said.role || a.term != said.term || a.tenure != said.tenure || a.leader != said.leader
}

// stood reports whether a node's log line surely still stood when it was said again, by the i-th answer.
func (f *facts) stood(i int32) bool {
	again := &f.answers[i]
	all := f.seen[again.node].retold
	k := sort.Search(len(all), func(k int) bool { return all[k].by > i })
	return all[k].since > again.to // the last one is the end
}

// repeats reports whether a node repeats what it announced last: not while it stands still, or may.
func (g *gathering) repeats(n int) bool {
	return g.seen[n].stands >= 0 && !g.world.still(n) && !g.world.pends(n)
}

// repeat has a node say again what it announced last; if it may have done so before it was stopped, or answered otherwise, as a torn answer,
// that tells of its process alone.
func (g *gathering) repeat(n int, at time.Duration, late bool) {
	s := &g.seen[n]
	a := g.answers[s.stands]
	a.torn = late || at <= s.doubted
	a.from, a.to, a.polled, a.repeats, a.lead = at, at, true, true, -1
	if a.dull = g.dulls(&a); !a.dull {
		g.stir(at)
	}
	if s.up {
		g.silence(s, at)
	}
	s.lives(at)
	g.world.answered(n, at, at) // who says something by itself, or would if it were otherwise, is up
	s.last, s.up = span{at, at}, g.world.up(n)
	g.lead(&a)
	g.answers = append(g.answers, a)
	if !a.torn {
		s.view = a
	}
	if !a.vague() {
		s.frank = a
	}
}

// leap leaves out what nodes would repeat in the midst of a calm that lasts until a time, as thin does with answers: nobody else says
// anything until then.
func (g *gathering) leap(every, until time.Duration) {
	from := g.stirred
	for n := range g.seen {
		if !g.repeats(n) {
			from = max(from, g.seen[n].last.to) // it falls silent
		}
	}
	behind, before := g.margins()
	times := (until - before - 1 - g.stood) / every
	if g.stood <= from+behind || times <= time.Duration(muchCalm) {
		return
	}
	g.stood += times * every
	for n := range g.seen {
		if s := &g.seen[n]; g.repeats(n) {
			g.leave(&s.view, int(times))
			s.last = span{g.stood, g.stood}
			s.view.from, s.view.to = g.stood, g.stood
			if !s.view.vague() {
				s.frank = s.view
			}
		}
	}
}
