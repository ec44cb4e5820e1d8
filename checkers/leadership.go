package checkers

import (
	"cmp"
	"slices"
	"time"
)

// leadership is one node's time in the post, as far as its claims show it: one tenure of it, or one term
// where it counts no tenures.
type leadership struct {
	node   int
	term   uint64
	tenure uint64
	since  time.Duration // it had not begun by then, as the node itself said; 0 if it said nothing
	first  int32         // the first and the last claim, in answers
	last   int32
	lost   int32 // the node's first answer after it that claims something else or nothing; -1 if there is none
	// denied is when the node had surely given it up, as it said when it was asked after the last claim; 0 if it did not. An
	// announcement may be older than a claim that came before it.
	denied time.Duration
}

// leadKey tells leaderships apart where they are numbered. One node may claim a term twice, if it forgot that it had
// been there; it counts its tenures all the same.
type leadKey struct {
	term   uint64
	tenure uint64
	node   int16
}

// numbered reports whether the election numbers its leaderships. A claim of term 0 names no leadership then.
func (f *facts) numbered() bool { return !f.setup.NoTerms }

// lead takes note of what an answer says about its node's leaderships. Torn answers say nothing.
func (g *gathering) lead(a *answer) {
	if a.torn {
		return
	}
	s := &g.seen[a.node]
	at := int32(len(g.answers))
	if !a.claims() || g.numbered() && a.term == 0 {
		g.lose(s, a, at)
		return
	}
	if s.lead >= 0 {
		if l := &g.leads[s.lead]; g.continues(l, a) {
			l.last = at
			a.lead = s.lead
			if g.numbered() {
				l.lost, l.denied = -1, 0
			}
			return
		}
	}
	key := leadKey{a.term, a.tenure, a.node}
	if at0, known := g.terms[key]; known && g.numbered() && !g.over(&g.leads[at0], a) {
		// An older claim that arrives late: an announcement and an answer may overtake each other.
		g.leads[at0].last = at
		a.lead = at0
		return
	}
	g.lose(s, a, at)
	s.lead = int32(len(g.leads))
	a.lead = s.lead
	g.terms[key] = s.lead
	l := leadership{node: int(a.node), term: a.term, tenure: a.tenure, first: at, last: at, lost: -1}
	if s.view.term <= a.term { // or the claim is older than the node's last answer
		l.since = s.view.from
	}
	g.leads = append(g.leads, l)
}

// continues reports whether a claim belongs to the leadership that its node claimed last.
func (g *gathering) continues(l *leadership, a *answer) bool {
	if g.numbered() {
		return l.term == a.term && l.tenure == a.tenure && !g.over(l, a)
	}
	// Without terms a leadership ends with the first answer that claims none; a claim that was asked for before that
	// answer came may be the older of the two.
	return l.tenure == a.tenure && (l.lost < 0 || a.polled && a.from <= g.answers[l.lost].to)
}

// over reports whether a leadership had ended before a claim was asked for. The claim is of another one then, even in the
// same term: the node has forgotten that it had led it.
func (g *gathering) over(l *leadership, a *answer) bool {
	return l.denied > 0 && a.polled && l.denied < a.from
}

// lose takes note of an answer that does not claim the leadership which its node claimed last.
func (g *gathering) lose(s *sightings, a *answer, at int32) {
	if s.lead < 0 {
		return
	}
	l := &g.leads[s.lead]
	if l.lost < 0 {
		l.lost = at
	}
	if l.denied == 0 && a.polled && a.from >= g.answers[l.last].to {
		l.denied = a.to
	}
}

// order puts the leaderships into the order in which they followed each other: that of their terms, or else that in
// which they were first claimed. Terms that a node leads twice in have been forgotten, and then tell no order.
func (g *gathering) order() {
	if g.numbered() && !g.forgotten() {
		slices.SortStableFunc(g.leads, func(a, b leadership) int { return cmp.Compare(a.term, b.term) })
	}
}

// forgotten reports whether a node led twice in one term.
func (g *gathering) forgotten() bool {
	seen := map[leadKey]bool{}
	for i := range g.leads {
		key := leadKey{term: g.leads[i].term, node: int16(g.leads[i].node)}
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

// handover is the end of one leadership and its being followed by another one.
type handover struct {
	from, to *leadership
	won      *answer // the claim that shows that the other followed
	span             // when that can have been
}

// changes reports whether the post went to another node.
func (h *handover) changes() bool { return h.from.node != h.to.node }

// handovers returns how leaderships followed each other.
func (f *facts) handovers() []handover {
	if f.numbered() {
		return f.byTerms()
	}
	return f.byDenials()
}

// byTerms goes by the terms. The old leader lost the post after its last claim or the new one's last denial,
// whichever was first, and had lost it when the new one claimed a higher term. Where two nodes claim the same term,
// none has followed the other. A node that follows itself must have given up in between, and said so.
func (f *facts) byTerms() (all []handover) {
	for i := 1; i < len(f.leads); i++ {
		from, to := &f.leads[i-1], &f.leads[i]
		if from.term >= to.term || from.node == to.node && (from.lost < 0 || f.answers[from.lost].claims()) {
			continue
		}
		won := &f.answers[to.first]
		all = append(all, handover{from, to, won, span{min(f.answers[from.last].from, to.since), won.to}})
	}
	return all
}

// byDenials goes by when leaders gave up: whoever claims the post next followed them. That may be one who had claimed
// it before, so that the old leader gave up because of that, or a leader of old who had only been out of sight.
func (f *facts) byDenials() (all []handover) {
	latest := make([]*leadership, len(f.nodes))
	var vacant []*leadership
	for i := range f.answers {
		a := &f.answers[i]
		if a.lead < 0 {
			if l := latest[a.node]; l != nil && l.lost == int32(i) {
				vacant = append(vacant, l)
			}
			continue
		}
		to := &f.leads[a.lead]
		latest[a.node] = to
		vacant = slices.DeleteFunc(vacant, func(from *leadership) bool {
			if from == to { // a claim that was overtaken by the denial
				return false
			}
			h := handover{from, to, a, span{f.answers[from.last].from, a.to}}
			if to.first > from.first {
				h.span.from = min(h.span.from, to.since)
			}
			all = append(all, h)
			return true
		})
	}
	return all
}

// moves returns the handovers from one node to another.
func (f *facts) moves() []handover {
	return slices.DeleteFunc(f.handovers(), func(h handover) bool { return !h.changes() })
}
