package checkers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"recount/internal/count"
)

func init() {
	register(Checker{
		Property: "no-ping-pong",
		Holds:    "under a fixed (even faulty) topology leadership does not bounce between nodes again and again",
		believes: true,
		timed:    true,
		check:    noPingPong,
	})
}

// bounces are the moves of leadership within one phase that nothing made necessary.
type bounces struct {
	phase
	moves   []handover
	returns int // of them, those that brought back who had led before in the phase
	enough  int // the moves that it takes to show that leadership bounces, 0 if it does not
}

// noPingPong looks for the phase in which leadership bounced most.
func noPingPong(_ context.Context, f *facts) Result {
	if why := f.unjudgeable(); why != "" {
		return unknown(nil, "%s", why)
	}
	if why := f.fleeting(); why != "" {
		return unknown(nil, "%s", why)
	}
	var worst, perhaps bounces
	var longest, longestFaulty time.Duration
	moves := f.moves()
	slices.SortStableFunc(moves, func(a, b handover) int { return cmp.Compare(a.span.to, b.span.to) }) // terms may have run back
	for _, p := range f.phases {
		longest = max(longest, p.length())
		if len(p.faults) > 0 {
			longestFaulty = max(longestFaulty, p.length())
		}
		if b := f.bounce(p, moves, true); b.worse(worst) {
			worst = b
		}
		if b := f.bounce(p, moves, false); b.worse(perhaps) {
			perhaps = b
		}
	}
	figures := []Figure{
		figure("changes of leader", len(moves)), figure("most without need in one phase", len(worst.moves)),
		figure("of them, returns", worst.returns), duration("longest phase", longest),
		duration("longest with a fault", longestFaulty),
	}
	enough := time.Duration(f.setup.Bounds.Moves+1) * f.setup.Bounds.Silence // who does not hear the leader takes a silence to challenge it
	switch {
	case worst.enough > 0:
		return f.bounced(f.promisedBounces(worst, moves), figures)
	case len(f.leads) == 0:
		return untested(figures, "%s", f.unclaimed())
	case perhaps.enough > 0:
		return unknown(figures, "another node began to lead %s from %s to %s, and nobody can tell whether it had to: %s",
			count.Of(len(perhaps.moves), "time"), at(perhaps.from), at(perhaps.to), f.doubts(perhaps))
	case f.tried > 0 && f.took == 0:
		return unknown(figures, "%s", f.noEffect())
	case f.tried > 0 && longestFaulty == 0: // as when nodes were but asked to hand over
		return untested(figures, "no fault lasted, under which leadership could have bounced: inject one that stays for %s", lasted(enough))
	case f.tried > 0 && longestFaulty < enough:
		return untested(figures,
			"no fault stayed the same for %s, in which leadership could have bounced: hold one for longer", lasted(enough))
	case longest < enough:
		return untested(figures, "the run did not last for %s, in which leadership could have bounced: let it run for longer", lasted(enough))
	case f.untold() != "":
		return unknown(figures, "%s", f.untold())
	}
	moved := "leadership never moved"
	if len(moves) > 0 {
		moved = fmt.Sprintf("another node began to lead %s, at most %s without need under the same faults",
			count.Of(len(moves), "time"), count.Of(max(len(worst.moves), len(perhaps.moves)), "time"))
	}
	return valid(figures, "%s; faults stayed the same for up to %s; %s", moved, lasted(longest), f.watch())
}

// bounce finds the moves without need in a phase, in the order of the times by which they had happened, to another than one who led all the while beside the old leader: that one was well from its first claim until it was replaced,
// and surely had one majority for all of that time, connected with it in every shape that the faults had taken before. Those that
// are not sure may have been so, as far as the faults are known.
func (f *facts) bounce(p phase, all []handover, sure bool) bounces {
	b := bounces{phase: p}
	shapes := f.shapes(p)
	for _, h := range all {
		if h.span.from < p.from || h.span.to > p.to || h.from.node >= f.world.n {
			continue
		}
		if f.byLeave(h, sure) || f.remained(h) {
			continue
		}
		with, rolls := shapes(h.from.node, h.span.to)
		reign := span{max(p.from, f.answers[h.from.first].from), h.span.to}
		with = with.and(f.world.with(h.from.node, f.world.during(reign), (*epoch).ran))
		if sure && (f.stalled(reign) || !f.vouched(with, h.from.node, reign, rolls)) || !f.majority(with, rolls...) {
			continue
		}
		b.moves = append(b.moves, h)
		if f.ledBefore(h, p) {
			b.returns++
		}
		if b.enough == 0 && len(b.moves) >= f.setup.Bounds.Moves && b.returns >= f.setup.Bounds.Returns {
			b.enough = len(b.moves)
		}
	}
	return b
}

// promisedBounces returns the worst bouncing while the leader was promised to stay; if it never bounced then, that which is given.
func (f *facts) promisedBounces(b bounces, moves []handover) bounces {
	var worst bounces
	for _, p := range f.phases {
		for _, p.span = range f.promised("no-ping-pong", p.span) {
			if now := f.bounce(p, moves, true); now.worse(worst) {
				worst = now
			}
		}
	}
	if worst.enough > 0 {
		return worst
	}
	return b
}

// doubts says why nobody can tell whether the moves of a phase were necessary.
func (f *facts) doubts(b bounces) string {
	for _, h := range b.moves {
		if f.byLeave(h, true) {
			return f.maybeAsked(h)
		}
		reign := span{max(b.from, f.answers[h.from.first].from), h.span.to}
		if why := f.doubt(h.from.node, reign, reign); why != "" {
			return why
		}
	}
	return uncertain
}

// ledBefore reports whether who takes over in a handover had led in the phase before the one whom it replaces, however that
// had ended: a leader that is killed is followed by somebody, and nobody moved leadership without need.
func (f *facts) ledBefore(h handover, p phase) bool {
	return slices.ContainsFunc(f.leads, func(l leadership) bool {
		return l.node == h.to.node && l.first < h.from.first && f.answers[l.last].to >= p.from
	})
}

// shapes returns whom a leader was connected with in every shape that a phase's faults took until a time, all of them sound, as far as they
// are known, and who voted then. It must be asked for later and later times of each leader.
func (f *facts) shapes(p phase) func(leader int, until time.Duration) (set, []roll) {
	epochs := f.world.during(p.span)
	type state struct {
		with set
		past int // epochs that with is about
	}
	leaders := make([]state, f.world.n)
	return func(leader int, until time.Duration) (set, []roll) {
		s := &leaders[leader]
		from := s.past
		for s.past < len(epochs) && epochs[s.past].from <= until {
			s.past++
		}
		with := f.world.with(leader, epochs[from:s.past], (*epoch).sound)
		if from > 0 {
			with = with.and(s.with)
		}
		s.with = with
		return with, f.world.rollsOf(epochs[:s.past])
	}
}

func (b *bounces) worse(than bounces) bool {
	if bounced := b.enough > 0; bounced != (than.enough > 0) {
		return bounced
	}
	return len(b.moves) > len(than.moves)
}

func (f *facts) bounced(b bounces, figures []Figure) Result {
	moves := b.moves[:b.enough]
	first, last := moves[0], moves[len(moves)-1]
	between := set{}
	between.add(first.from.node)
	e := evidence{span{first.span.from, last.span.to}, []int{f.index(&f.answers[first.from.first])}}
	for _, h := range moves {
		between.add(h.to.node)
		e.ops = append(e.ops, f.index(&f.answers[h.to.first]))
	}
	more := ""
	if n := len(b.moves) - len(moves); n > 0 {
		more = fmt.Sprintf(", and then %s more", count.Of(n, "time"))
	}
	return invalid(figures, e, "leadership bounced between %s %s in %s%s, %s",
		f.names(between), count.Of(len(moves), "time"), lasted(e.length()), more, f.conditions(b.phase))
}
