package checkers

import (
	"time"

	"recount/history"
)

// Where log lines are standing, a node says again and again what it announced last, until it announces or answers something else: at each
// whole multiple of a third of a lull.

// mostRepeats is gathering.mostRepeats if nothing else is said.
const mostRepeats = 1 << 16

// A line may be read late, by up to a lag: so what stands is as good as torn, and tells of its node's process alone, for a lag before the
// node says something else, or before the history ends, as another line may be on its way; and where the machine stood still.

// upcoming is an op that is to be taken up, and the end of what the nemesis begins with it, if that is known.
type upcoming struct {
	op, end *history.Op
}

// postpone keeps an op in mind, where log lines are standing, and returns whether it did.
func (g *gathering) postpone(op, end *history.Op) bool {
	if !g.setup.Standing {
		return false
	}
	next := upcoming{op: new(history.Op)}
	*next.op = *op
	if end != nil {
		next.end = new(history.Op)
		*next.end = *end
	}
	g.ahead, g.known = append(g.ahead, next), op.Time
	if own := g.tells(op); own != nil {
		*own = append(*own, next.op)
	}
	return true
}

// tells returns where it is kept what a node is about to say, or that the machine stood still, if that is what an op tells.
func (g *gathering) tells(op *history.Op) *[]*history.Op {
	switch {
	case op.F == history.Stall:
		return &g.standstills
	case op.F == history.Announce, op.F == history.Observe && op.Type == history.OK:
		return &g.seen[g.node(op.Node)].ahead
	}
	return nil
}

// passes takes note that the first op that was postponed is taken up.
func (g *gathering) passes(op *history.Op) {
	if len(g.ahead) == 0 {
		return // it is the first of all, which says that lines stand
	}
	g.ahead = g.ahead[1:]
	if own := g.tells(op); own != nil {
		*own = (*own)[1:]
	}
}

// stand has nodes repeat until a time what they announced last, where that holds: at each tick, and when it is sure for the last time.
func (g *gathering) stand(until time.Duration) {
	every, from := max(g.lull()/3, time.Millisecond), g.reached
	g.reached = until
	for times := 1; ; times++ {
		if times%g.mostRepeats == 0 {
			every = max(every, (until-g.stood)/time.Duration(g.mostRepeats))
		}
		if g.lastly(from, min(g.stood+every, until)); g.stood+every >= until {
			return
		}
		g.leap(every, until)
		g.stood += every
		for n := range g.seen {
			if g.repeats(n) {
				g.repeat(n, g.stood, g.retold(n, g.stood))
			}
		}
		from = g.stood + 1
	}
}

// lastly has nodes repeat what they announced last just before it is no longer sure, if that is in a time.
func (g *gathering) lastly(from, to time.Duration) {
	for from < to {
		at := to
		for n := range g.seen {
			if last := g.last(n); last >= from {
				at = min(at, last)
			}
		}
		for n := range g.seen {
			if at < to && g.last(n) == at {
				g.repeat(n, at, g.retold(n, at))
			}
		}
		from = at + 1
	}
}

// last is when what a node announced last is sure for the last time, if it says it again and that is known; -1 if not.
func (g *gathering) last(n int) time.Duration {
	if !g.repeats(n) {
		return -1
	}
	if last := g.next(n) - g.lag() - 1; last > g.answers[g.seen[n].stands].to {
		return last
	}
	return -1
}

// stands has a node repeat from now on what it has just announced. One that surely does not run, or stands still, may have announced it
// before that, and its line was read late: nothing is sure of it but that the node may run again. So it is with further lines, until the
// node answers what it is asked, or is to be started; with a line of one that is being ended or stopped, or may be yet; and for a lag
// after its process ended.
func (g *gathering) stands(n int) {
	s := &g.seen[n]
	s.stands = s.said
	s.late = s.late || g.world.still(n)
	s.doubted = g.otherwise(s.said) + g.lag()
	at := g.answers[s.said].to
	late := s.late || g.world.threatened(n) || n >= g.world.n && s.doomed(at) || s.gone >= at-g.lag()
	if g.repeat(n, at, late || g.retold(n, at)); late {
		s.stands, g.answers[s.said].stale = -1, true
	}
}

// retold reports whether a node says something else than what stands not a lag after a time, by what comes next, or may be about to; or
// the machine stands still then, or was seen to do so not a lag later.
func (g *gathering) retold(n int, at time.Duration) bool {
	if len(g.standstills) > 0 {
		first := g.standstills[0]
		if first.Time <= at+g.lag() || first == g.ahead[0].op && first.Time-time.Duration(first.Access.Value) <= at {
			return true
		}
	}
	return g.next(n) <= at+g.lag()
}

// next is when a node says something else than what stands, or may, by what comes next: at the end another line may be on its way.
func (g *gathering) next(n int) time.Duration {
	s := &g.seen[n]
	for _, op := range s.ahead {
		if op.View.Torn && op.F == history.Announce {
			return op.Time
		}
		a := answer{role: op.View.Role, term: op.View.Term, tenure: op.View.Tenure, leader: g.name(op.View.Leader)}
		if said := &g.answers[s.stands]; op.F == history.Announce && a.differs(said) || op.F == history.Observe && a.contradicts(said) {
			return op.Time
		}
	}
	return g.known
}

// otherwise returns when a node last gave an answer that says something else than what it announced not a lag later: that may be the older
// of the two, and another line on its way.
func (g *gathering) otherwise(said int32) time.Duration {
	line := &g.answers[said]
	for k := said - 1; k >= 0 && g.answers[k].to > line.to-g.lag(); k-- {
		if a := &g.answers[k]; a.node == line.node && a.polled && !a.repeats && !a.ended && a.contradicts(line) {
			return a.to
		}
	}
	return -never
}

// retells takes note of it if a node tells something else than it announced last, or announces anything. What it is asked before that line
// was read and answers then may be the older of the two.
func (g *gathering) retells(s *watched, a *answer) {
	if s.stands < 0 {
		return
	}
	switch line := &g.answers[s.stands]; {
	case a.polled && !a.contradicts(line):
	case a.polled && a.from <= line.to:
		s.doubted = a.to + g.lag()
	default:
		s.stands = -1
	}
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

// repeats reports whether a node repeats what it announced last: not while it stands still, or may.
func (g *gathering) repeats(n int) bool {
	return g.seen[n].stands >= 0 && !g.world.still(n) && !g.world.pends(n)
}

// repeat has a node say again what it announced last; if it may have done so before it was stopped, or answered otherwise, or be kept from
// saying something else by what it works with, as a torn answer, that tells of its process alone.
func (g *gathering) repeat(n int, at time.Duration, late bool) {
	s := &g.seen[n]
	a := g.answers[s.stands]
	a.torn = late || at <= s.doubted || g.world.ailing.has(n)
	a.from, a.to, a.polled, a.repeats, a.lead = at, at, true, true, -1
	if a.dull = g.dulls(&a); !a.dull {
		g.stir(at)
	}
	if s.up {
		g.silence(s, at)
	}
	s.lives(at)
	g.world.arrive(at)
	g.world.answered(n, at, at) // who says something by itself, or would if it were otherwise, is up
	s.last, s.up = span{at, at}, g.world.up(n)
	g.lead(&a)
	g.answers = append(g.answers, a)
	s.shows(a)
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
	before = max(before, g.lag()+g.lull()) // until then it is sure
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
			s.shows(s.view)
		}
	}
}
