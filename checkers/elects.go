package checkers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"recount/history"
)

func init() {
	register(Checker{
		Property: "elects",
		Holds:    "while a connected majority exists, a leader is known to it within the target's bound; after healing too",
		believes: true,
		timed:    true,
		of:       []history.F{history.Granted},
		watch:    func(f *facts) watcher { return &elections{facts: f, polling: newPolling(f)} },
	})
}

// vacancies are the times in which a leader was due and nobody led.
type vacancies struct {
	most   time.Duration // that a majority was surely up and connected on end, where that is too short for one to be due
	due    []span        // one majority was connected and well for longer than the bound, as in all that follows without what a machine that stood still excuses
	sure   span          // the first such time, longer than the bound, in which surely nobody led who had a majority to lead
	core   set           // that majority
	gone   set           // of it, who had ended by itself
	blank  span          // the longest in which nobody was seen to lead
	still  span          // the first that is longer than the bound, but not without what a machine that stood still excuses
	frozen span          // the first that is longer than the bound, if the machine had not stood still
}

// elections are what the property is judged by; who was voted for is worth knowing beside it.
type elections struct {
	*facts
	polling
}

func (f *elections) check(context.Context) Result {
	if why := f.unjudgeable(); why != "" {
		return unknown(nil, "%s", why)
	}
	if err := f.recount(); err != nil {
		return unknown(nil, "%s", unread(err))
	}
	bound := f.setup.Bounds.Elect
	possible, seen := f.led()
	v := f.vacancies(possible, seen, bound)
	o := f.occupancy(seen, &f.polling)
	figures := append(o.figures(), duration("leader due", total(v.due)))
	without := func(s span) string {
		return fmt.Sprintf("from %s to %s, for %s of %s allowed,", at(s.from), at(s.to), longer(s.length(), bound), lasted(bound))
	}
	switch {
	case v.sure.length() > 0:
		return f.vacant(v, figures)
	case f.tried > 0 && f.took == 0:
		return unknown(figures, "%s", f.noEffect())
	case len(v.due) == 0 && v.still.length() > 0:
		return untested(figures, "from %s to %s a majority was surely up and connected, but no more than %s of that without the times when the machine stood still: run it on a quiet one",
			at(v.still.from), at(v.still.to), lasted(bound))
	case len(v.due) == 0 && v.most > 0:
		return untested(figures, "a majority was surely up and connected for %s on end at most, and an election may take %s: leave one alone for longer",
			lasted(v.most), lasted(bound))
	case len(v.due) == 0:
		return untested(figures, "no majority was ever surely up and connected, and an election may take %s: leave one alone", lasted(bound))
	case f.net(v.blank) > bound:
		return unknown(figures, "%s nobody was seen to lead, but somebody may have: %s",
			without(v.blank), cmp.Or(f.unheeded(), f.askIn(f.running(v.blank), v.blank)))
	case v.frozen.length() > 0:
		return unknown(figures, "%s nobody led, but the machine stood still then: run it on a quiet one", without(v.frozen))
	}
	return valid(figures, "%s; where a majority stayed connected for longer than the %s allowed, never more than %s without a leader; %s",
		&o, lasted(bound), lasted(v.blank.length()), f.watch())
}

// vacancies looks at every time in which a leader was due, given when somebody may have led and was seen to lead.
func (f *facts) vacancies(possible, seen []span, bound time.Duration) (v vacancies) {
	var sure found[core]
	for _, c := range f.cores() {
		for _, gap := range outside(seen, c.span) {
			if gap.length() > bound && v.frozen.length() == 0 {
				v.frozen = gap // or else it is blank, too, and that is told first
			}
		}
		if most := f.net(f.worst(c.span)); most <= bound {
			v.most = max(v.most, most)
			if c.length() > bound && v.still.length() == 0 {
				v.still = c.span
			}
			continue
		}
		v.due = append(v.due, c.span)
		for _, gap := range outside(possible, c.span) {
			if gap = f.worst(gap); f.net(gap) > bound {
				f.vacancy(&sure, gap, c, bound)
			}
		}
		for _, gap := range outside(seen, c.span) {
			if gap = f.worst(gap); f.net(gap) > f.net(v.blank) {
				v.blank = gap
			}
		}
	}
	slices.SortFunc(v.due, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	v.due = merge(v.due)
	v.sure, v.core = sure.it.span, sure.it.members
	for _, e := range f.world.during(v.sure) {
		v.gone = v.gone.or(e.gone.and(v.core))
	}
	if v.gone != (set{}) {
		if members, ok := f.upright(v.sure); ok {
			v.core, v.gone = members, set{}
		}
	}
	return v
}

// vacancy takes note of a time in which surely nobody led, and of what of it was too long by itself while a leader was promised.
func (f *facts) vacancy(sure *found[core], gap span, c core, bound time.Duration) {
	for _, part := range f.promised("elects", gap) {
		if part = f.worst(part); f.net(part) > bound {
			sure.take(core{part, c.members}, part, f, "elects")
		}
	}
	sure.take(core{gap, c.members}, gap, f, "elects")
}

// running returns who may lead, and did not surely stand still throughout s.
func (f *facts) running(s span) set {
	still := f.leaders
	for _, e := range f.world.during(s) {
		still = still.and(e.still)
	}
	return f.leaders.minus(still)
}

// net is how long s is, without what is excused in it.
func (f *facts) net(s span) time.Duration { return s.length() - f.excused(s) }

// worst is the part of s that is the longest without what is excused in it. Whoever is held to a bound is held to it in each
// part: what a machine that stands still costs at the edge of a time excuses nothing in the rest of it.
func (f *facts) worst(s span) span {
	part := span{s.from, s.from}
	worst := part
	var most, now time.Duration // how long they are, without what is excused
	reaches := func(to time.Duration) {
		now += to - part.to
		if part.to = to; now > most {
			worst, most = part, now
		}
	}
	for _, o := range f.frozen {
		if !o.overlaps(s) {
			continue
		}
		reaches(max(o.from, s.from))
		now -= min(o.length(), f.setup.Bounds.Silence)
		if part.to = min(o.to, s.to); now <= 0 {
			part.from, now = part.to, 0 // it is better to begin after it
		}
	}
	reaches(s.to)
	return worst
}

// vacant shows a vacancy by the last claim before it, what the nemesis had done, the first and the last of the
// denials in it, and the first claim after it.
func (f *facts) vacant(v vacancies, figures []Figure) Result {
	e := evidence{span: v.sure}
	if did := f.action(v.sure.from); did != nil {
		e.ops = append(e.ops, did.op)
	}
	var before, after, opens, closes *answer // claims before and after it; denials in it
	for i := range f.answers {
		a := &f.answers[i]
		member := int(a.node) < f.world.n && v.core.has(int(a.node))
		switch {
		case a.claims() && len(f.inOffice(nil, int(a.node), span{a.from, a.to})) > 0:
			if a.to <= v.sure.from {
				before = a
			} else if after == nil {
				after = a
			}
		case member && a.from >= v.sure.from && a.to <= v.sure.to:
			if closes = a; opens == nil {
				opens = a
			}
		}
	}
	for _, a := range [...]*answer{before, opens, closes, after} {
		if a != nil {
			e.ops = append(e.ops, f.index(a))
		}
	}
	what := fmt.Sprintf("%s were up and connected with each other", f.names(v.core))
	if v.core.count() == 1 {
		what = f.names(v.core) + " was up"
	}
	if v.gone != (set{}) {
		itself := "itself"
		if v.gone.count() > 1 {
			itself = "themselves"
		}
		what = fmt.Sprintf("%s were connected with each other, and would have been up had %s not ended by %s",
			f.names(v.core), f.names(v.gone), itself)
		if v.core.count() == 1 {
			what = f.names(v.core) + " would have been up had it not ended by itself"
		}
	}
	if d := f.excused(v.sure); d > 0 {
		what += fmt.Sprintf(", %s of it excused by a machine that stood still", lasted(d))
	}
	if c := f.claimants(v.sure); c != (set{}) {
		they := "it"
		if c.count() > 1 {
			they = "they"
		}
		what += fmt.Sprintf("; %s said all the while that %s led, without a majority to lead", f.names(c), they)
	}
	r := invalid(figures, e, "nobody led from %s to %s, for %s of %s allowed, though %s",
		at(v.sure.from), at(v.sure.to), longer(v.sure.length(), f.setup.Bounds.Elect), lasted(f.setup.Bounds.Elect), what)
	r.about = v.core
	return r
}

// claimants returns who claimed to lead throughout a vacancy, up and heard of all the while. None of them had a majority, or it were none.
func (f *facts) claimants(s span) (who set) {
	up := first(f.world.n)
	for _, e := range f.world.during(s) {
		up = up.and(e.up)
	}
	for i := range f.leads {
		l := &f.leads[i]
		throughout := f.answers[l.first].to <= s.from && f.answers[l.last].to >= s.to-f.lull() && (l.lost < 0 || f.answers[l.lost].to >= s.to)
		if throughout && up.has(l.node) && f.answering(l.node, s) {
			who.add(l.node)
		}
	}
	return who
}

// led returns when somebody may have led who had a majority to lead, and when somebody was seen to.
func (f *facts) led() (possible, seen []span) {
	n := f.world.n
	last := make([]*answer, n) // that was not torn; the end of a process is none
	for k := range f.answers {
		a := &f.answers[k]
		i := int(a.node)
		if a.blank() || a.ended || i >= n {
			continue
		}
		before := last[i]
		last[i] = a
		switch {
		case before == nil:
			possible = f.inOffice(possible, i, span{0, a.to})
		case before.claims() || a.claims() || !a.dull && a.to-before.from > f.lull():
			possible = f.inOffice(possible, i, span{before.from, a.to})
		}
	}
	for i, a := range last {
		switch {
		case f.servers.has(i):
		case a == nil:
			possible = f.inOffice(possible, i, span{0, f.end})
		default: // nobody asked again: it may have been elected since
			possible = f.inOffice(possible, i, span{a.from, f.end})
		}
	}
	for i := range f.leads {
		l := &f.leads[i]
		if l.node < n {
			seen = f.inOffice(seen, l.node, span{f.answers[l.first].begins(), f.answers[l.last].to})
		}
	}
	for _, all := range []*[]span{&possible, &seen} {
		slices.SortFunc(*all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	}
	return possible, seen
}

// inOffice adds the parts of s in which node i may have had a majority, itself included.
func (f *facts) inOffice(to []span, i int, s span) []span {
	begin := len(to)
	for part, e := range f.world.parts(s) {
		if e.office.has(i) {
			to = append(to, part)
		}
	}
	return to[:begin+len(merge(to[begin:]))]
}
