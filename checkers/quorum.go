package checkers

import (
	"context"
	"fmt"
	"sort"
	"time"

	"recount/internal/count"
)

func init() {
	register(Checker{
		Property: "quorum",
		Holds:    "nobody wins an election who can have talked to fewer than a majority of the voters while it could ask for votes",
		believes: true,
		check:    quorum,
	})
}

// victory is the beginning of a leadership: when its node can have asked for votes, and got them.
type victory struct {
	span
	lead   *leadership
	before *answer // by which it had not asked yet; nil if nothing says so
	voters set     // whom it may have talked to then, both ways, itself included
	lately set     // and whom since it was last asked before it led, or may have been started, whichever is later
}

// quorum looks for a leadership that was won in a time in which its node surely could not talk to a majority. Only who had
// none in reach can show by not winning that it takes one.
func quorum(_ context.Context, f *facts) Result {
	if f.service() {
		return untested(nil, "leaders are elected through %s: whether those need a majority, the nodes do not show: "+
			"an election of its own for the service does", f.through())
	}
	if why := f.unjudgeable(); why != "" {
		return unknown(nil, "%s", why)
	}
	lacking, perhaps := 0, 0
	var first found[victory]
	var doubt victory
	for _, v := range f.victories() {
		switch {
		case !f.everMajority(v.voters, v.to):
			lacking++
			first.take(v, v.span, f, "quorum")
		case !f.everMajority(v.lately, v.to):
			if perhaps++; perhaps == 1 {
				doubt = v
			}
		}
	}
	tests, longest := f.withoutMajority()
	figures := []Figure{
		figure("elections won", len(f.leads)), figure("without a majority in reach", lacking),
		figure("perhaps without", perhaps),
		figure("times a node had no majority in reach for long", tests), duration("longest of them", longest),
	}
	switch {
	case lacking > 0:
		return f.usurped(first.it, figures)
	case perhaps > 0: // what kept a majority away came too late to put this one to the test
		tell := "" // in an answer of a lower term it had not asked yet
		if f.numbered() {
			tell = ", or have nodes tell the term in which they campaign"
		}
		return untested(figures, "%s led%s by %s and had no majority in reach just before, but may have asked for votes as early as %s: "+
			"let faults last for longer, until a node begins to lead more than %s (elect) after it lost its majority%s",
			f.nodes[doubt.lead.node], f.in(doubt.lead), at(doubt.to), at(doubt.from), lasted(f.setup.Bounds.Elect), tell)
	case len(f.leads) == 0:
		return untested(figures, "%s", f.unclaimed())
	case f.tried > 0 && f.took == 0:
		return unknown(figures, "%s", f.noEffect())
	case longest <= f.setup.Bounds.Silence:
		return untested(figures, "no node was up without a majority in reach for longer than %s, when it could have won without one: "+
			"cut one off for longer", lasted(f.setup.Bounds.Silence))
	case tests == 0:
		return unknown(figures, "nodes had no majority in reach for up to %s, but gave no answer for longer than %s then: ask them, more often",
			lasted(longest), lasted(f.lull()))
	}
	return valid(figures, "%s won, each with a majority in reach; %s a node had none, for up to %s, and won nothing; %s",
		count.Of(len(f.leads), "election"), count.Of(tests, "time"), lasted(longest), f.watch())
}

// service reports whether the nodes elect through others.
func (f *facts) service() bool { return f.store >= 0 || f.serving != (set{}) }

// through names those that the nodes elect through.
func (f *facts) through() string {
	servers := f.serving
	if f.store >= 0 {
		servers.add(f.store)
	}
	return f.names(servers)
}

// victories returns how each leadership of a member began. Who told of its term before it led in it cannot have asked for votes
// before it entered that term. Anybody else may have asked as long before as an election may take.
func (f *facts) victories() (all []victory) {
	rises := f.rises()
	for i := range f.leads {
		l := &f.leads[i]
		if l.node >= f.world.n {
			continue
		}
		v := victory{lead: l, span: span{l.prior - f.setup.Bounds.Elect, f.answers[l.first].to}}
		if f.numbered() {
			own := rises[l.node]
			r := own[sort.Search(len(own), func(k int) bool { return own[k].term >= l.term })]
			v.from, v.before = r.since-f.setup.Bounds.Elect, r.before
			if r.term == l.term && !r.claimed {
				v.from = r.since
			}
		}
		v.from = max(v.from, 0)
		v.voters = f.inReach(l.node, v.span).and(f.leaders)
		v.lately = f.inReach(l.node, span{max(l.asked, f.reborn(l.node, v.to)), v.to}).and(f.leaders)
		all = append(all, v)
	}
	return all
}

// rise is when a node first told of a term, having told of none that high before.
type rise struct {
	term    uint64
	claimed bool          // it led in it by then: nobody knows whether it enters a term before it asks for votes in it
	since   time.Duration // it surely had not entered the term by then, nor any higher one
	before  *answer       // that says so; nil if none does
}

// rises returns the rises of each node, in their order.
func (f *facts) rises() [][]rise {
	all := make([][]rise, len(f.nodes))
	last := make([]rise, len(f.nodes))
	for i := range f.answers {
		a := &f.answers[i]
		if a.torn || a.term == 0 {
			continue
		}
		own, l := &all[a.node], &last[a.node]
		if a.term > l.term {
			l.term, l.claimed = a.term, a.claims()
			*own = append(*own, *l)
		}
		if a.polled && a.from > l.since {
			l.since, l.before = a.from, a
		}
	}
	return all
}

// inReach returns whom node i may have sent something at some time of s, and may have got something from at some time of it,
// not necessarily the same, and who did not stand still all the while.
func (f *facts) inReach(i int, s span) set {
	var there, back, awake set
	all := first(f.world.n)
	look := func(e *epoch) {
		back = back.or(all.minus(e.deaf[i]))
		awake = awake.or(all.minus(e.still))
		for j := range f.world.n {
			if !e.deaf[j].has(i) {
				there.add(j)
			}
		}
	}
	epochs := f.world.during(span{s.from - 1, s.to}) // what ended when it began may have been last
	for k := range epochs {
		look(&epochs[k])
	}
	for k := range f.world.moments {
		if e := &f.world.moments[k]; s.from <= e.from && e.from <= s.to {
			look(e)
		}
	}
	reached := there.and(back).and(awake)
	reached.add(i) // it claims what it claims, whatever is known of its process
	return reached
}

// withoutMajority counts the times in which a node that may lead was up and had no majority in reach for longer than a
// silence, and answered, so that it would have been seen to win; and returns the longest, whether or not it answered.
func (f *facts) withoutMajority() (tests int, longest time.Duration) {
	w := &f.world
	f.leaders.each(func(i int) {
		var alone []span
		for part, e := range w.parts(span{0, f.end}) {
			if e.up.has(i) && !e.office.has(i) && e.roll.votes.has(i) && !f.everMajority(e.company(i, w.n), e.from) {
				alone = append(alone, part)
			}
		}
		for _, s := range merge(alone) {
			longest = max(longest, s.length())
			if s.length() > f.setup.Bounds.Silence && f.answering(i, s) {
				tests++
			}
		}
	})
	return tests, longest
}

// usurped is the result for a leadership that was won without a majority.
func (f *facts) usurped(v victory, figures []Figure) Result {
	won := &f.answers[v.lead.first]
	e := evidence{v.span, []int{f.index(won)}}
	if v.before != nil {
		e.ops = append(e.ops, f.index(v.before))
	}
	if a := f.action(v.to); a != nil {
		e.ops = append(e.ops, a.op)
	}
	others := v.voters
	others.remove(v.lead.node)
	whom := "nobody"
	if others != (set{}) {
		whom = "none but " + f.names(others)
	}
	return invalid(figures, e, "%s led%s by %s, though it cannot have asked for votes before %s, and could talk to %s from then on: a majority is %s",
		f.nodes[v.lead.node], f.in(v.lead), at(v.to), at(v.from), whom, f.needed())
}

// needed says what a majority is.
func (f *facts) needed() string {
	if len(f.world.rolls) > 1 {
		return "more than half of those that voted then, or ever had"
	}
	return fmt.Sprintf("%d of %s", f.quorum(), f.electors())
}

// electors counts those that vote.
func (f *facts) electors() string {
	if f.voters == first(len(f.setup.Nodes)) {
		return count.Of(len(f.setup.Nodes), "node")
	}
	return count.Of(f.voters.count(), "voter")
}
