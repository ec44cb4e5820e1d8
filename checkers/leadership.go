package checkers

import (
	"cmp"
	"slices"
	"time"
)

// leadership is one node's time in the post, as far as its claims show it: one tenure of it, or one term where it counts no
// tenures. Claims of one number belong to one leadership unless the node surely denied it between them.
type leadership struct {
	node   int
	term   uint64
	tenure uint64
	since  time.Duration // it had not begun by then, as the node itself said; 0 if it said nothing
	asked  time.Duration // when the node's last answer before the first claim was asked for; 0 if there was none
	prior  time.Duration // when its last answer was asked for that had come before the first claim was asked for; 0 if there was none
	first  int32         // the claim that came first, in answers
	last   int32         // the claim that was asked for last
	lost   int32         // the node's first answer after that which claims something else or nothing; -1 if there is none
	told   int32         // its latest claim that was announced; -1 if there is none
	said   int32         // the node's last announcement before the first claim that said whether it leads, in answers; -1 if there is none
	denied int32         // the first answer by which the node surely had denied it, after one of its claims; -1 if there is none
}

// leadKey tells leaderships apart. One node may claim a term twice, if it forgot that it had been there; it counts its
// tenures all the same.
type leadKey struct {
	term   uint64
	tenure uint64
	node   int16
}

// numbered reports whether the election numbers its leaderships. A claim of term 0 names no leadership then.
func (f *facts) numbered() bool { return !f.setup.NoTerms }

// inOrder reports whether terms tell the order of leaderships: not where one was led twice.
func (f *facts) inOrder() bool { return f.numbered() && !f.repeated }

// key is the leadership that an answer claims, if it claims any.
func (f *facts) key(a *answer) (leadKey, bool) {
	switch {
	case !a.claims():
		return leadKey{}, false
	case !f.numbered():
		return leadKey{0, a.tenure, a.node}, true
	}
	return leadKey{a.term, a.tenure, a.node}, a.term != 0
}

// lead takes note of what an answer says about its node's leaderships. Torn answers say nothing, nor do those without a role.
func (g *gathering) lead(a *answer) {
	if a.vague() {
		return
	}
	at := int32(len(g.answers))
	key, claims := g.key(a)
	s := &g.seen[a.node]
	s.open = slices.DeleteFunc(s.open, func(k leadKey) bool {
		return (!claims || k != key) && g.deny(&g.leads[g.terms[k]], a, at)
	})
	if !claims {
		return
	}
	k, known := g.terms[key]
	if !known || g.outlived(&g.leads[k], a) != nil || g.over(&g.leads[k], a, s.avowed) {
		k = int32(len(g.leads))
		g.terms[key] = k
		l := leadership{node: int(a.node), term: a.term, tenure: a.tenure, asked: s.view.from, first: at, last: at, lost: -1, told: -1, denied: -1, said: s.avowed}
		if s.frank.term <= a.term { // or the claim is older than the node's last answer
			l.since = s.frank.from
		}
		l.prior = g.askedBefore(a)
		g.leads = append(g.leads, l)
	}
	a.lead = k
	l := &g.leads[k]
	if !a.polled {
		l.told = at
	}
	if a.from >= g.answer(l.last, a).from {
		l.last = at
		if l.lost >= 0 {
			l.lost = g.lostAfter(l.lost, a)
		}
		if !slices.Contains(s.open, key) {
			s.open = append(s.open, key)
		}
	}
}

// askedBefore returns when a node was asked for the last answer that said whether it leads and that had come before it was asked for this
// one; 0 if there is none. What came meanwhile, to others who asked, may be of later than this one.
func (g *gathering) askedBefore(a *answer) time.Duration {
	if !a.polled {
		return g.seen[a.node].frank.from
	}
	for k := len(g.answers) - 1; k >= 0; k-- {
		if b := &g.answers[k]; b.node == a.node && b.polled && !b.vague() && !b.ended && b.to <= a.from {
			return b.from
		}
	}
	return 0
}

// lostAfter returns the first answer from one on that a node was asked for after a claim that came only now; -1 if there is none. It
// claims something else, or nothing: else it had been the last claim, not this one.
func (g *gathering) lostAfter(from int32, claim *answer) int32 {
	for k := int(from); k < len(g.answers); k++ {
		if a := &g.answers[k]; a.node == claim.node && !a.vague() && a.from > claim.from {
			return int32(k)
		}
	}
	return -1
}

// answer returns an answer by its number, which may be that of the one being gathered.
func (g *gathering) answer(k int32, now *answer) *answer {
	if int(k) == len(g.answers) {
		return now
	}
	return &g.answers[k]
}

// over reports whether a leadership surely had ended before a claim of its node was true: an answer that denies it is
// surely later than one of its claims, and surely older than this one. Announcements come in the order in which the node
// made them; said is its last one before this claim.
func (f *facts) over(l *leadership, a *answer, said int32) bool {
	if l.denied < 0 {
		return false
	}
	if f.answers[l.denied].to < f.surely(a) {
		return true
	}
	if a.polled || said < 0 {
		return false
	}
	before := &f.answers[said]
	claimed, claims := f.key(before)
	own, _ := f.key(&f.answers[l.first])
	return (!claims || claimed != own) && f.follows(l, before, said)
}

// follows reports whether an answer, the k-th of all, is surely later than one of the claims of a leadership.
func (f *facts) follows(l *leadership, a *answer, k int32) bool {
	return f.surely(a) > f.answers[l.first].to || !a.polled && l.told >= 0 && l.told < k
}

// surely is from when on an answer was true. An announcement may have taken a while.
func (f *facts) surely(a *answer) time.Duration {
	if a.polled {
		return a.from
	}
	return min(a.from, a.to-f.lag())
}

// deny takes note of an answer of a node that does not claim a leadership which it has claimed. It reports whether all is
// known of its end.
func (g *gathering) deny(l *leadership, a *answer, at int32) bool {
	if l.lost < 0 {
		l.lost = at
	}
	if l.denied < 0 && g.follows(l, a, at) {
		l.denied = at
	}
	return l.denied >= 0
}

// order puts the leaderships into the order in which they followed each other: that of their terms, or else that in which
// they were first claimed. Terms that were led twice tell no order.
func (g *gathering) order() {
	terms := map[uint64]bool{}
	for i := range g.leads {
		g.repeated = g.repeated || terms[g.leads[i].term]
		terms[g.leads[i].term] = true
	}
	if !g.inOrder() {
		return
	}
	slices.SortStableFunc(g.leads, func(a, b leadership) int { return cmp.Compare(a.term, b.term) })
	now := map[int32]int32{} // by the first claim
	for k := range g.leads {
		now[g.leads[k].first] = int32(k)
	}
	was := map[int32]int32{} // leaderships by their number so far
	for i := range g.answers {
		a := &g.answers[i]
		if a.lead < 0 {
			continue
		}
		if k, first := now[int32(i)]; first {
			was[a.lead] = k
		}
		a.lead = was[a.lead]
	}
}

// handover is the end of one leadership and its being followed by another one.
type handover struct {
	from, to *leadership
	gave     int32   // the answer by which the old leader gave up; -1 if there is none
	won      *answer // the claim that shows that the other followed
	span             // when that can have been
}

// changes reports whether the post went to another node.
func (h *handover) changes() bool { return h.from.node != h.to.node }

// handovers returns how leaderships followed each other.
func (f *facts) handovers() []handover {
	if f.inOrder() {
		return f.byTerms()
	}
	return f.byDenials()
}

// byTerms goes by the terms. The old leader lost the post after its last claim or the new one's last denial,
// whichever was first, and had lost it when the new one claimed a higher term. A node that follows itself must have given up in
// between, and said so.
func (f *facts) byTerms() (all []handover) {
	for i := 1; i < len(f.leads); i++ {
		from, to := &f.leads[i-1], &f.leads[i]
		won, gave := &f.answers[to.first], from.denied
		if from.node == to.node {
			if gave = f.gaveUp(i-1, i); gave < 0 {
				continue
			}
		}
		all = append(all, handover{from, to, gave, won, span{min(f.answers[from.last].from, to.since), won.to}})
	}
	return all
}

// gaveUp returns the first answer by which a leader surely had given up the post before it led again, of two leaderships by their numbers;
// -1 if there is none. The first claim of the new one may have been announced a while ago, when the answer was not yet true; another claim of it then
// shows that the node had. So does an end of its process that surely came between.
func (f *facts) gaveUp(was, is int) int32 {
	from, to := &f.leads[was], &f.leads[is]
	if f.over(from, &f.answers[to.first], to.said) {
		return from.denied
	}
	denial, surest := int32(-1), &f.answers[to.first]
	for k := from.first; k <= max(to.last, to.told); k++ {
		switch a := &f.answers[k]; {
		case int(a.node) != from.node || a.vague():
		case int(a.lead) == is && denial >= 0 && f.answers[denial].to < f.surely(a):
			return denial
		case int(a.lead) == is && f.surely(a) > f.surely(surest):
			surest = a
		case int(a.lead) != was && int(a.lead) != is && denial < 0 && f.follows(from, a, k):
			denial = k
		}
	}
	if d := f.outlived(from, surest); d != nil {
		return d.answer
	}
	return -1
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
			h := handover{from, to, from.lost, a, span{f.answers[from.last].from, a.to}}
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

// remained reports whether the successor had led since before the old leader did, and was seen to all the while: then it
// took over from nobody.
func (f *facts) remained(h handover) bool {
	if h.to.first >= h.from.first {
		return false
	}
	claims := func(i int32) bool { k := f.answers[i].lead; return k >= 0 && &f.leads[k] == h.to }
	i := h.from.first
	for !claims(i) {
		i--
	}
	seen := f.answers[i].to
	for i++; i <= h.to.last && f.answers[i].begins() <= h.span.to; i++ {
		if !claims(i) {
			continue
		}
		if !f.answers[i].dull && f.answers[i].begins()-seen > f.lull() {
			return false
		}
		seen = f.answers[i].to
	}
	return true
}
