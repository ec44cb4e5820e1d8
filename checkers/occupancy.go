package checkers

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"recount/history"
	"recount/internal/count"
)

// occupancy is how the post was filled.
type occupancy struct {
	observed, led      time.Duration
	with               time.Duration   // led by somebody who may have had a majority
	gaps               []time.Duration // in which nobody was seen to lead
	campaigns          []time.Duration // from the first campaign seen since the last claim to the claim of a new leadership
	elections, changes int
	raised             []uint64 // terms from one leadership to the next, where another node took over
	split              int      // terms in which several candidates were voted for, and nobody led
	votes              bool     // whether nodes report their votes
}

func (f *facts) occupancy(seen []span, p *polling) occupancy {
	o := occupancy{elections: len(f.leads)}
	for _, h := range f.moves() {
		if o.changes++; f.inOrder() {
			o.raised = append(o.raised, h.to.term-h.from.term)
		}
	}
	o.split, o.votes = p.splits(f.leads), p.first.count > 0
	o.campaigns = f.campaigns()
	all := span{f.answers[0].from, f.end}
	gaps := outside(seen, all)
	for _, g := range gaps {
		if g.length() > 0 {
			o.gaps = append(o.gaps, g.length())
		}
	}
	o.observed = all.length()
	var led []span
	for i := range f.leads {
		led = append(led, span{f.answers[f.leads[i].first].begins(), f.answers[f.leads[i].last].to})
	}
	slices.SortFunc(led, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	o.led = o.observed - total(outside(led, all))
	o.with = o.observed - total(gaps)
	return o
}

// campaigns returns how long elections took that nodes were seen to campaign in.
func (f *facts) campaigns() (all []time.Duration) {
	const none = time.Duration(-1)
	begun := none
	first := map[int]bool{} // claims of their leaderships
	for i := range f.leads {
		first[int(f.leads[i].first)] = true
	}
	for i := range f.answers {
		a := &f.answers[i]
		switch {
		case a.torn:
		case a.role == history.Candidate && begun == none:
			begun = a.to
		case a.lead >= 0:
			if begun != none && first[i] {
				all = append(all, a.to-begun)
			}
			begun = none
		}
	}
	return all
}

// polling is in which terms several were voted for.
type polling struct {
	first recent[favourite] // who was voted for first in each term
	split map[uint64]uint64 // terms in which another was, a bit each of 64
}

// favourite is who was voted for first in a term, once that is told.
type favourite struct {
	name string
	told bool
}

func newPolling(f *facts) polling { return polling{newRecent[favourite](f), map[uint64]uint64{}} }

func (p *polling) take(op *history.Op) {
	if op.Vote.Term != 0 { // in which nothing is a vote
		p.cast(p.first.of(op.Vote.Term), op)
	}
}

// cast takes note of a vote, given who was voted for first in its term, if that is known.
func (p *polling) cast(first *favourite, op *history.Op) {
	switch {
	case first == nil:
	case !first.told:
		*first = favourite{op.Vote.For, true}
	case first.name != op.Vote.For:
		p.split[op.Vote.Term/64] |= 1 << (op.Vote.Term % 64)
	}
}

// recount goes through the history once more, for the votes in terms that had been forgotten.
func (p *polling) recount() error {
	if len(p.first.late) == 0 {
		return nil
	}
	late := p.first.replay()
	return p.first.again(func(op *history.Op, number int) {
		if op.F == history.Granted { // term 0 is never late
			first, _ := late.at(op.Vote.Term, number)
			p.cast(first, op)
		}
	})
}

// splits counts the terms that nobody led although several candidates got votes in them.
func (p *polling) splits(leads []leadership) (n int) {
	led := map[uint64]bool{}
	for i := range leads {
		led[leads[i].term] = true
	}
	for _, terms := range p.split {
		n += bits.OnesCount64(terms)
	}
	for term := range led {
		n -= int(p.split[term/64] >> (term % 64) & 1)
	}
	return n
}

func (o *occupancy) figures() []Figure {
	perMinute := 0.0
	if o.observed > 0 {
		perMinute = float64(o.changes) / o.observed.Minutes()
	}
	figures := []Figure{
		duration("led", o.led), duration("with a leader that a majority could reach", o.with), duration("without", o.observed-o.with),
		text("times without", spread(o.gaps, lasted)),
		figure("elections", o.elections), text("elections took", spread(o.campaigns, lasted)),
		figure("changes of leader", o.changes), {"changes per minute", fmt.Sprintf("%.1f", perMinute), perMinute, PerMinute},
	}
	if len(o.raised) > 0 {
		figures = append(figures, text("terms per change", spread(o.raised, func(n uint64) string { return fmt.Sprint(n) })))
	}
	if o.votes {
		figures = append(figures, figure("split votes", o.split))
	}
	return figures
}

func (o *occupancy) String() string {
	s := fmt.Sprintf("%s in %s, a leader for %s of them", count.Of(o.elections, "election"), lasted(o.observed), lasted(o.led))
	if lasted(o.led) != lasted(o.with) {
		s += fmt.Sprintf(", one that a majority could reach for %s", lasted(o.with))
	}
	return s
}
