package checkers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"recount/internal/count"
)

func init() {
	register(Checker{
		Property: "sticky-leader",
		Holds:    "a leader that stays alive and keeps a connected majority keeps the leadership, also when a node rejoins",
		believes: true,
		timed:    true,
		check:    stickyLeader,
	})
}

// settled is how long a leader must have had its majority before its fall is held against anybody: two silences, so
// that all campaigns begun without it are over, and before them the time in which a connection over TCP that an earlier fault
// broke finds back at the soonest. Of who was away for longer, more is asked: see mended.
func (f *facts) settled() time.Duration { return 2*f.setup.Bounds.Silence + reconnect }

const reconnect = 2 * time.Second

// stickyLeader looks for an established leader that lost the post although it surely had a fixed majority all the
// while: from long before that until its successor claims the post, or it claims it anew. Established is who had led
// for as long as a node may be silent: the races of an election under way are over by then.
func stickyLeader(_ context.Context, f *facts) Result {
	if why := f.unjudgeable(); why != "" {
		return unknown(nil, "%s", why)
	}
	if why := f.fleeting(); why != "" {
		return unknown(nil, "%s", why)
	}
	handovers := f.handovers()
	unjust, perhaps := 0, 0
	var first, doubt found[handover]
	for _, h := range handovers {
		switch {
		case f.byLeave(h, false): // it was asked to hand over, and did
		case !f.inOrder() && (f.besides(h) || f.remained(h)): // one of two that led at one time gave up: a matter of exclusive-leadership
		case !f.byLeave(h, true) && !f.ledOn(h) && f.unjust(h):
			unjust++
			first.take(h, h.span, f, "sticky-leader")
		case f.suspect(h):
			perhaps++
			doubt.take(h, h.span, f, "sticky-leader")
		}
	}
	established, held, trials := f.reign()
	figures := []Figure{
		figure("leaderships that ended", len(handovers)), figure("without need", unjust),
		figure("perhaps without need", perhaps),
		figure("established leaders", established), figure("faults outlived", trials),
		duration("held with a majority", held),
	}
	switch {
	case unjust > 0:
		return f.deposed(first.it, figures)
	case doubt.any:
		h := doubt.it
		return suspected(figures, h.span, "%s lost the post%s by %s, and nobody can tell whether it had to: %s",
			f.nodes[h.from.node], f.in(h.from), at(h.span.to), f.unsure(h))
	case established == 0:
		return untested(figures, "no leader held the post for %s: %s",
			lasted(f.setup.Bounds.Silence), cmp.Or(f.unheeded(), "give the cluster more time"))
	case f.tried > 0 && f.took == 0:
		return unknown(figures, "%s", f.noEffect())
	case held == 0:
		return untested(figures, "no established leader surely had a majority: leave one alone for longer")
	case f.tried > 0 && trials == 0:
		return untested(figures, "no established leader was seen to keep one majority, and its leadership, from before a fault until behind it: isolate a follower and let it rejoin")
	}
	return valid(figures,
		"%s kept the post while a majority was surely theirs, for %s in all and through %s of the faults; %s",
		count.Of(established, "established leader"), lasted(held), count.Of(trials, "change"), f.watch())
}

// unjust reports whether the old leader surely was established and surely had a majority until it was replaced. The
// machine must not have stood still for another silence before: who was put out by that may still have been campaigning. What
// had been wrong before the history began nobody knows.
func (f *facts) unjust(h handover) bool {
	s, watched, established := f.tenureOf(h)
	if !established || s.from < 0 || f.stalled(f.shaken(h)) {
		return false
	}
	epochs := f.world.during(s)
	nodes := f.world.with(h.from.node, epochs, (*epoch).ran).and(f.back(h, s))
	return f.vouched(nodes, h.from.node, watched, f.world.rollsOf(epochs))
}

// ledOn reports whether the old leader led on beside its successor for longer than it takes to hear of one, or for as long as it was heard of:
// it may have lost nothing, and the other have led nobody.
func (f *facts) ledOn(h handover) bool {
	last := f.answers[h.from.last].begins()
	return h.changes() && (last > h.won.to+f.settled() || last > h.won.to && !f.saidSo(h.from))
}

// saidSo reports whether the node of a leadership surely denied it by an answer, after one of its claims: not only by ending.
func (f *facts) saidSo(l *leadership) bool {
	if l.denied < 0 {
		return false
	}
	own, _ := f.key(&f.answers[l.first])
	for k := l.denied; int(k) < len(f.answers); k++ {
		a := &f.answers[k]
		if int(a.node) != l.node || a.ended || a.vague() {
			continue
		}
		if claimed, claims := f.key(a); (!claims || claimed != own) && f.follows(l, a, k) {
			return true
		}
	}
	return false
}

// tenureOf returns when the old leader must have had its majority, when it must have been seen to have it, and whether it
// was established by then.
func (f *facts) tenureOf(h handover) (s, watched span, established bool) {
	challenged := min(h.span.from, f.campaign(h).from+f.setup.Bounds.Silence)
	s = span{challenged - f.settled(), h.span.to}
	watched = span{max(s.from, f.answers[h.from.first].from), s.to}
	return s, watched, f.answers[h.from.first].to+f.setup.Bounds.Silence <= challenged
}

// shaken is when a machine that stands still may have cost the old leader the post.
func (f *facts) shaken(h handover) span {
	return span{min(h.span.from, f.campaign(h).from) - f.setup.Bounds.Silence, h.span.to}
}

// back returns the nodes that surely had found back to the old leader when it must have had its majority.
func (f *facts) back(h handover, s span) set {
	return f.world.mended(h.from.node, s.from+reconnect)
}

// unsure says why nobody can tell whether the old leader had to go.
func (f *facts) unsure(h handover) string {
	if f.byLeave(h, true) {
		return f.maybeAsked(h)
	}
	if f.ledOn(h) {
		return fmt.Sprintf("it said until %s that it led, beside %s: exclusive-leadership is about that",
			at(f.answers[h.from.last].begins()), f.nodes[h.to.node])
	}
	s, watched, _ := f.tenureOf(h)
	if h.span.to < f.settled() { // answers would not tell what was before the first
		return uncertain
	}
	if why := f.doubt(h.from.node, watched, f.shaken(h)); why != "" {
		return why
	}
	if before := (span{s.from, s.to - 1}); f.mayKeep(h.from.node, before) && !f.mayKeep(h.from.node, s) {
		return "what was done to them as it was replaced may have come first: have faults wait for longer"
	}
	if away := f.world.with(h.from.node, f.world.during(s), (*epoch).ran).minus(f.back(h, s)); away != (set{}) {
		return fmt.Sprintf("%s had been away from it, and TCP may take as long again to find back: heal links sooner, or leave the nodes alone for longer", f.names(away))
	}
	return uncertain
}

// campaign is when the campaign began to which the old leader lost the post, as far as terms tell: somebody took the term
// that it gave way to. One that was begun while it had no majority may have had to wait for its votes until a link
// was healed.
func (f *facts) campaign(h handover) span {
	if !f.numbered() || h.won.term <= h.from.term {
		return h.span
	}
	term := h.won.term
	if lost := h.from.lost; lost >= 0 && f.answers[lost].term > h.from.term {
		term = min(term, f.answers[lost].term)
	}
	for _, k := range f.afterwards(h.from) {
		if f.answers[k].term > h.from.term {
			term = min(term, f.answers[k].term)
		}
	}
	k := sort.Search(len(f.heights), func(k int) bool { return f.heights[k].term >= term })
	began := f.heights[k].span
	f.outOfSight(h).each(func(i int) { began.from = min(began.from, f.seen[i].below(term)) })
	return began
}

// afterwards returns the answers of a leadership's node after its last claim, in one piece, up to the first that was surely later and said whether
// it leads.
func (f *facts) afterwards(l *leadership) (all []int32) {
	end := int32(len(f.answers))
	if l.lost >= 0 {
		end = l.lost
	}
	last := f.answers[l.last].from
	for k := l.first; k < end; k++ {
		a := &f.answers[k]
		if int(a.node) == l.node && !a.torn && (a.from > last || a.from == last && k > l.last) {
			all = append(all, k)
		}
	}
	return all
}

// outOfSight returns the nodes whose campaigns may have waited for longer than two silences until they cost the old leader
// the post: those that may have run meanwhile, but were not connected with it all the while. The old leader is one of them
// where it did not surely run itself: it kept no majority then, whenever the campaign began.
func (f *facts) outOfSight(h handover) set {
	epochs := f.world.during(span{h.span.from - f.settled(), h.span.to})
	still := first(f.world.n)
	for k := range epochs {
		still = still.and(epochs[k].still)
	}
	return f.leaders.minus(still).minus(f.world.with(h.from.node, epochs, (*epoch).ran))
}

// besides reports whether the successor was seen to lead beside the old leader before the time in which that was safe, as
// only an election without terms lets it. One who had been out of sight until then is another matter. Who had led before the old leader did was
// beside it only once that led; where that is too short a time to have been safe, until a silence before it fell.
func (f *facts) besides(h handover) bool {
	silence, safe, led := f.setup.Bounds.Silence, h.span.from-f.settled(), f.answers[h.from.first].from
	before := span{safe - silence, safe}
	if before.from < led && h.to.first < h.from.first {
		before = span{led, h.span.from - silence}
	}
	return slices.ContainsFunc(f.answersIn(span{before.from, h.span.from}), func(a answer) bool {
		return a.lead >= 0 && &f.leads[a.lead] == h.to && before.from <= a.begins() && a.to <= before.to
	})
}

// suspect reports whether it may have been so, as far as the faults are known. What begins at the very time at which it was replaced may have
// come after that: so do faults that wait for a leader.
func (f *facts) suspect(h handover) bool {
	challenged := min(h.won.to, f.campaign(h).to+f.setup.Bounds.Silence)
	s := span{challenged - f.settled(), h.span.to - 1}
	return f.answers[h.from.first].begins()+f.setup.Bounds.Silence <= challenged && f.mayKeep(h.from.node, s)
}

func (f *facts) deposed(h handover, figures []Figure) Result {
	e := evidence{h.span, []int{f.index(&f.answers[h.from.first]), f.index(&f.answers[h.from.last]), f.index(h.won)}}
	what, when := fmt.Sprintf("%s took over", f.nodes[h.to.node]), h.won.to
	switch claimed := &f.answers[h.to.first]; {
	case !h.changes():
		e.ops = append(e.ops, f.index(&f.answers[h.gave]))
		what = "stepped down and had to be elected again"
	case f.vacated(h):
		gave := &f.answers[h.gave]
		e.ops, when = append(e.ops, f.index(gave)), gave.to
		what = fmt.Sprintf("stepped down by %s%s, and %s", at(when), f.after(when), what)
	case claimed.to < h.won.begins():
		what = fmt.Sprintf("%s, which had claimed to lead at %s already, took over", f.nodes[h.to.node], at(claimed.to))
	}
	after := ""
	if when == h.won.to {
		after = f.after(when)
	}
	if did := f.action(when); did != nil {
		e.ops = append(e.ops, did.op)
	}
	had := "never lost its majority"
	if since := f.since(h); since > 0 {
		had = fmt.Sprintf("had its majority from %s on", at(since))
	}
	return invalid(figures, e, "%s led%s and %s, but %s%s at %s%s",
		f.nodes[h.from.node], f.in(h.from), had, what, f.in(h.to), at(h.won.to), after)
}

// vacated reports whether the old leader had given up for longer than a silence when the other followed: what it lost the post by was then.
func (f *facts) vacated(h handover) bool {
	return h.gave >= 0 && f.answers[h.gave].to+f.setup.Bounds.Silence < h.won.begins()
}

// since returns when the old leader had a majority for the last time after none while it led, as far as the faults are known; 0 if it
// always had one.
func (f *facts) since(h handover) (t time.Duration) {
	for part := range f.world.parts(span{f.answers[h.from.first].to, h.span.to}) {
		if within := (span{part.from, part.to - 1}); within.from <= within.to && !f.mayKeep(h.from.node, within) {
			t = part.to
		}
	}
	return t
}

// in names the term of a leadership: " in term 4".
func (f *facts) in(l *leadership) string {
	if !f.numbered() {
		return ""
	}
	return fmt.Sprintf(" in term %d", l.term)
}

// reign tells how many leaders were established, for how long such leaders surely had a majority, and how many of the
// nemesis's changes they outlived that left it to them, from a silence before each until a silence after it.
func (f *facts) reign() (established int, held time.Duration, trials int) {
	silence := f.setup.Bounds.Silence
	for i := range f.leads {
		l := &f.leads[i]
		s := span{f.answers[l.first].to, f.answers[l.last].from}
		if s.length() < silence {
			continue
		}
		established++
		for part := range f.world.parts(s) {
			held += f.held(l.node, part)
		}
		for _, did := range f.actionsIn(span{s.from, s.to - silence}) {
			around := span{did.begun - silence, did.at + silence}
			if did.seen && around.from >= s.from && f.keeps(l.node, around, around) {
				trials++
			}
		}
	}
	return established, held, trials
}

// held is for how long of a part of an epoch a leader surely had a majority: nodes that gave no answer for too long count no
// more until they do.
func (f *facts) held(leader int, part span) (d time.Duration) {
	cuts := []time.Duration{part.from, part.to}
	for i := range f.world.n {
		for _, s := range f.seen[i].silent {
			if s.meets(part) {
				cuts = append(cuts, max(s.from, part.from), min(s.to, part.to))
			}
		}
	}
	slices.Sort(cuts)
	for k, to := range cuts[1:] {
		if within := (span{cuts[k] + 1, to - 1}); within.from <= within.to && f.keeps(leader, within, within) {
			d += to - cuts[k]
		}
	}
	return d
}
