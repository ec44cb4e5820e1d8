package checkers

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"time"

	"recount/history"
	"recount/internal/count"
)

func init() {
	register(Checker{
		Property: "learns-leader",
		Holds:    "a voter that is connected with a leader and its majority knows a leader within the time that an election may take",
		believes: true,
		check:    learnsLeader,
		timed:    true,
	})
}

// leaderless is a time in which a node was not seen to know of a leader though there was one, and it was connected with it.
type leaderless struct {
	span
	node   int
	beside hold // of the leader
	with   core
}

// learnsLeader looks for a voter that stays leaderless beside a leader: it was connected with it and with enough others, and
// went on naming nobody.
func learnsLeader(_ context.Context, f *facts) Result {
	if why := f.unjudgeable(); why != "" {
		return unknown(nil, "%s", why)
	}
	unseen, names := f.unseen()
	if !names {
		return untested(nil, "no node named another one as the leader: nothing tells whether nodes know of one")
	}
	if why := f.fleeting(); why != "" {
		return unknown(nil, "%s", why)
	}
	bound := f.setup.Bounds.Elect
	var due, longest time.Duration
	var doubtful *leaderless
	var sure firstLeaderless
	times := 0
	surely := map[int][]span{} // the ignorance of nodes, where it has come to that
	// look looks at the times in which a node was connected with a leader, and reports whether it may have known none in one.
	look := func(h hold, i int) (perhaps bool) {
		for _, c := range f.attended(span{h.taken, h.given}, f.beside(h, i)) {
			if c.length() <= bound {
				continue
			}
			due += c.length()
			times++
			for _, s := range meeting(unseen[i], c.span) {
				s = s.within(c.span)
				longest = max(longest, s.length())
				if s.length() > bound {
					if perhaps = true; doubtful == nil {
						doubtful = &leaderless{s, i, h, c}
					}
				}
			}
		}
		return perhaps
	}
	for _, h := range f.reigns() {
		f.learners().each(func(i int) {
			if i == h.node || !look(h, i) {
				return
			}
			if _, known := surely[i]; !known {
				surely[i] = f.ignorance(i)
			}
			seen := f.beside(h, i)
			seen.seen = true
			for _, c := range f.attended(span{h.taken, h.given}, seen) {
				for _, run := range meeting(surely[i], c.span) {
					if run = f.worst(run.within(c.span)); f.net(run) > bound {
						sure.take(f, leaderless{run, i, h, c})
					}
				}
			}
		})
	}
	figures := []Figure{
		figure("times a voter was long connected with a leader", times), duration("in all", due),
		duration("longest not seen to know a leader", longest),
	}
	switch {
	case sure.any != nil:
		return f.unaware(*cmp.Or(sure.promised, sure.any), figures)
	case doubtful != nil:
		return unknown(figures, "%s was not seen to know a leader from %s to %s beside %s, but it may have: %s", f.nodes[doubtful.node],
			at(doubtful.from), at(doubtful.to), f.nodes[doubtful.beside.node], f.unheard(*doubtful))
	case f.tried > 0 && f.took == 0:
		return unknown(figures, "%s", f.noEffect())
	case times == 0:
		return untested(figures, "no voter surely was connected with one leader and its majority for longer than %s: leave them alone for longer",
			lasted(bound))
	}
	return valid(figures, "%s a voter was connected with a leader and its majority for long, for %s in all, and knew of one but for %s at most, of %s allowed; %s",
		count.Of(times, "time"), lasted(due), lasted(longest), lasted(bound), f.watch())
}

// firstLeaderless are the first of some times, and the first of what of them was too long by itself while it was promised that nodes
// know; nil if there is none.
type firstLeaderless struct{ any, promised *leaderless }

// take takes note of a time.
func (first *firstLeaderless) take(f *facts, l leaderless) {
	if first.any == nil || l.from < first.any.from {
		first.any = &l
	}
	if first.promised != nil && l.from >= first.promised.from {
		return
	}
	for _, part := range f.promised("learns-leader", l.span) {
		if part = f.worst(part); f.net(part) > f.setup.Bounds.Elect && (first.promised == nil || part.from < first.promised.from) {
			first.promised = &leaderless{part, l.node, l.beside, l.with}
		}
	}
}

// learners are those that have to know who leads while they vote, or are candidates: all that may lead, but for a store that the others elect through.
func (f *facts) learners() set {
	learners := f.leaders
	if f.store >= 0 {
		learners.remove(f.store)
	}
	return learners
}

// beside is a leader, and another that has to know who leads, with a majority.
func (f *facts) beside(h hold, i int) company {
	return company{who: []int{h.node, i}, also: func(e *epoch) bool { return e.roll.votes.has(i) }}
}

// unseen returns when each node was not seen to know of a leader: the times between its answers that name somebody, in the order in
// which they came. It tells besides whether any node named another one.
func (f *facts) unseen() (all [][]span, names bool) {
	all = make([][]span, len(f.nodes))
	named := make([]time.Duration, len(f.nodes)) // the ends of the last answers that named somebody
	for i := range f.answers {
		a := &f.answers[i]
		leader := f.leader(a)
		names = names || leader != "" && leader != f.nodes[a.node]
		if leader != "" || a.role == history.Leader {
			if !a.dull { // or else it says what the one before it said, and there was no gap between
				all[a.node] = append(all[a.node], span{named[a.node], max(named[a.node], a.from)})
			}
			named[a.node] = a.to
		}
	}
	for i := range all {
		all[i] = append(all[i], span{named[i], f.end})
	}
	return all, names
}

// ignorance returns when node i surely knew of no leader.
func (f *facts) ignorance(i int) []span {
	var t testimony
	for k := range f.answers {
		switch a := &f.answers[k]; {
		case int(a.node) != i:
		case f.leader(a) != "" || a.role == history.Leader:
			t.others = append(t.others, span{a.from, a.to})
		case a.torn:
		case a.role == history.UnknownRole:
			t.others = append(t.others, span{a.from, a.to})
		default:
			t.nobody = append(t.nobody, a)
		}
	}
	return t.ignorance(f.lull())
}

// testimony is what a node's answers tell of whether it knew a leader, in the order in which they came.
type testimony struct {
	nobody []*answer // name nobody, and tell its role
	others []span    // when one may be true that names somebody, or tells no role. Divided ones that name nobody tell nothing
}

// ignorance returns the longest times from the end of one answer that names nobody to the beginning of another of its row: no others
// may be true since the one was asked for. A row ends before an answer that came more than a lull after its latest question.
func (t *testimony) ignorance(lull time.Duration) (all []span) {
	until := make([]time.Duration, len(t.others)+1) // the first of the others from each on that may be true
	until[len(t.others)] = never
	for k, o := range slices.Backward(t.others) {
		until[k] = min(o.from, until[k+1])
	}
	for len(t.nobody) > 0 {
		n, asked := 1, t.nobody[0].from // the latest question so far
		for n < len(t.nobody) && (t.nobody[n].dull || t.nobody[n].to-asked <= lull) {
			asked = max(asked, t.nobody[n].from)
			n++
		}
		begins := make([]time.Duration, n)
		for k, a := range t.nobody[:n] {
			begins[k] = a.from
		}
		slices.Sort(begins)
		for _, a := range t.nobody[:n] {
			next := sort.Search(len(t.others), func(k int) bool { return t.others[k].to >= a.from })
			last := sort.Search(n, func(k int) bool { return begins[k] >= until[next] })
			if last == 0 || begins[last-1] <= a.to {
				continue
			}
			if len(all) == 0 || begins[last-1] > all[len(all)-1].to {
				all = append(all, span{a.to, begins[last-1]})
			}
		}
		t.nobody = t.nobody[n:]
	}
	return all
}

// unheard says why nobody can tell whether a node knew of a leader.
func (f *facts) unheard(l leaderless) string {
	members := l.with.members
	members.add(l.node)
	if silent := f.silentIn(members, l.span); silent != (set{}) {
		return f.gaveNone(silent)
	}
	if f.stalled(l.span) {
		return "the machine stood still about then: run it on a quiet one"
	}
	if slices.ContainsFunc(f.answersIn(span{l.from, l.to + 1}), func(a answer) bool {
		return int(a.node) == l.node && (a.torn || a.role == history.UnknownRole)
	}) {
		return "not all that it said told whether it knew one: ask for undivided answers, more often"
	}
	return "its answers leave time for that: ask more often"
}

// unaware is the result for a voter that knew of no leader.
func (f *facts) unaware(l leaderless, figures []Figure) Result {
	e := evidence{l.span, []int{f.index(&f.answers[l.beside.first]), f.index(&f.answers[l.beside.last])}}
	var first, last *answer
	answers := f.answersIn(span{l.from, l.to + 1})
	for k := range answers {
		if a := &answers[k]; int(a.node) == l.node && !a.torn {
			if last = a; first == nil {
				first = a
			}
		}
	}
	for _, a := range []*answer{first, last} {
		if a != nil {
			e.ops = append(e.ops, f.index(a))
		}
	}
	if a := f.action(l.from); a != nil {
		e.ops = append(e.ops, a.op)
	}
	others, with := l.with.members, "each other"
	others.remove(l.node)
	others.remove(l.beside.node)
	if others != (set{}) {
		with = f.names(others)
	}
	r := invalid(figures, e, "%s knew no leader from %s to %s, for %s of %s allowed, though %s led%s and both had a majority with %s",
		f.nodes[l.node], at(l.from), at(l.to), longer(l.length(), f.setup.Bounds.Elect), lasted(f.setup.Bounds.Elect), f.nodes[l.beside.node],
		f.in(f.claimed(&l.beside)), with)
	r.about = l.with.members
	return r
}
