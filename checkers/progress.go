package checkers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"recount/history"
	"recount/internal/count"
)

func init() {
	register(Checker{
		Property: "progress",
		Holds:    "writes to a leader that keeps a connected majority get through, some within the time that an election may take",
		believes: true,
		of:       []history.F{history.Get, history.Put, history.CAS, history.Apply},
		watch: func(f *facts) watcher {
			return &progress{facts: f, writes: map[string]*written{}, under: map[int]*attempt{}, values: map[held][]*attempt{}}
		},
		timed: true,
	})
}

// progress looks for a leader in name only: one that surely led and had a majority, while clients wrote to it on and on and
// nothing got through.
type progress struct {
	*facts
	writes       map[string]*written // by node
	under        map[int]*attempt    // those under way, by the number of their beginning
	values       map[held][]*attempt // those of which nobody knows yet whether they got through, by what they wrote
	all, through int
}

// held is what a register may hold.
type held struct{ key, value string }

// attempt is a write that a client asked a node for.
type attempt struct {
	span      // from its beginning to its end; never, if it has none
	op    int // the Index of its beginning
	wrote held
	node  string
	read  time.Duration // when somebody first had read what it wrote; never, if nobody has
}

// written is what clients wrote to one node.
type written struct {
	tries []*attempt // that were refused, or of unknown outcome
	took  []span     // in each of which something that the node wrote got through
}

// barren is a time in which a leader surely led with a majority, and nothing got through.
type barren struct {
	core
	hold
	tries []*attempt
	tried time.Duration // for how long there was one of them under way
	spent time.Duration // from when the first of them began until the last one was over
}

// take takes note of writes and of their ends, of what tells that one got through though nobody answered it, and of updates
// of a leader that were applied.
func (p *progress) take(op *history.Op) {
	switch {
	case op.F == history.Apply:
		s := span{op.Time - p.lull(), op.Time} // it reports what may be a while ago
		p.got(op.Node, s)
		p.got(op.Update().From, s)
	case op.Type == history.Invoke:
		if op.F != history.Get && op.Node != "" {
			p.begins(op)
		}
	default:
		if op.Type == history.OK && op.F != history.Put && op.Reg != nil {
			p.reads(op)
		}
		if a := p.under[p.began.number]; a != nil {
			delete(p.under, p.began.number)
			p.ends(op, a)
		}
	}
}

func (p *progress) begins(op *history.Op) {
	a := &attempt{span: span{op.Time, never}, op: op.Index, node: op.Node, read: never}
	if op.Reg != nil {
		a.wrote = held{op.Reg.Key, op.Reg.Value}
	}
	p.all++
	p.under[p.newest()] = a
	p.values[a.wrote] = append(p.values[a.wrote], a)
}

// ends takes note of a write that was answered. A compare-and-set that failed was answered by what the register held. One that
// was refused, or of which nobody knows, somebody may read yet.
func (p *progress) ends(op *history.Op, a *attempt) {
	a.to = op.Time
	if op.Type == history.Info || op.Type == history.Fail && op.F == history.Put {
		p.of(a.node).tries = append(p.of(a.node).tries, a)
		return
	}
	if p.values[a.wrote] = slices.DeleteFunc(p.values[a.wrote], func(o *attempt) bool { return o == a }); len(p.values[a.wrote]) == 0 {
		delete(p.values, a.wrote)
	}
	p.through++
	p.got(a.node, a.span)
}

// reads takes note of what somebody found in a register: whoever wrote it had got through by then.
func (p *progress) reads(op *history.Op) {
	k := held{op.Reg.Key, op.Reg.Value}
	if op.F == history.CAS {
		k.value = op.Reg.Old
	}
	for _, a := range p.values[k] {
		a.read = op.Time
	}
	delete(p.values, k)
}

func (p *progress) of(node string) *written {
	if p.writes[node] == nil {
		p.writes[node] = &written{}
	}
	return p.writes[node]
}

// got takes note of a time in which something that a node wrote got through, and which ends now. Times that meet are one.
func (p *progress) got(node string, s span) {
	w := p.of(node)
	if n := len(w.took); n > 0 && w.took[n-1].to >= s.from {
		w.took[n-1] = span{min(s.from, w.took[n-1].from), s.to}
		return
	}
	w.took = append(w.took, s)
}

// close puts what was written to each node in order, when all is known.
func (p *progress) close() {
	for _, a := range p.under {
		p.of(a.node).tries = append(p.of(a.node).tries, a)
	}
	for _, w := range p.writes {
		w.tries = slices.DeleteFunc(w.tries, func(a *attempt) bool {
			if a.read < never {
				p.through++
				w.took = append(w.took, span{a.from, min(a.to, a.read)})
			}
			return a.read < never
		})
		slices.SortFunc(w.tries, func(a, b *attempt) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.op, b.op)) })
		slices.SortFunc(w.took, func(a, b span) int { return cmp.Compare(a.from, b.from) })
		w.took = merge(w.took)
	}
}

func (p *progress) check(context.Context) Result {
	if why := p.unjudgeable(); why != "" {
		return unknown(nil, "%s", why)
	}
	p.close()
	figures := []Figure{figure("writes to nodes", p.all), figure("of them, got through", p.through)}
	if p.all == 0 {
		return untested(figures, "no client wrote to a node: run the workload register, where the election keeps one")
	}
	if why := p.fleeting(); why != "" {
		return unknown(figures, "%s", why)
	}
	var sure, doubtful barren
	var tested, vain time.Duration
	bound := p.setup.Bounds.Elect
	for _, h := range p.reigns() {
		w := p.of(p.nodes[h.node])
		with := company{who: []int{h.node}, also: func(e *epoch) bool { return e.asked.has(h.node) }}
		for _, c := range p.attended(span{h.taken, h.given}, with) {
			if c.length() > bound && len(meeting(w.took, c.span)) > 0 {
				tested += c.length()
			}
		}
		vain = max(vain, p.judge(h, w, with, &sure, &doubtful))
		if p.service() {
			continue
		}
		if with.bare = true; p.stumbles(h) {
			vain = max(vain, p.judge(h, p.whoever(h.node), with, &sure, &doubtful))
		}
	}
	figures = append(figures, duration("leaders with a majority wrote", tested), duration("longest that writes were tried in vain", vain))
	switch {
	case sure.tries != nil:
		return p.inName(sure, figures)
	case doubtful.tries != nil:
		return p.perhapsInName(doubtful, figures)
	case p.tried > 0 && p.took == 0:
		return unknown(figures, "%s", p.noEffect())
	case tested == 0:
		return untested(figures, "nothing got through to a leader that surely had a majority for longer than %s, and clients did not try for longer: "+
			"leave one alone, and write to it", lasted(bound))
	}
	got := fmt.Sprintf("%d of %s got through", p.through, count.Of(p.all, "write"))
	if p.through == 0 {
		got = fmt.Sprintf("updates were applied, though none of %s ended ok, or was read", count.Of(p.all, "write"))
	}
	return valid(figures, "%s; leaders had a majority for %s in all, and were written to in vain for %s at most, of %s allowed; %s",
		got, lasted(tested), lasted(vain), lasted(bound), p.watch())
}

// enoughTries is how many writes in vain, one after the other, are more than some that are lost: from then on it matters how long that took.
const enoughTries = 3

// judge looks for the first time of a leader in such company in which clients tried for too long, in what got through: one that is
// sure, and one that may be. It returns for how long they tried at most.
func (p *progress) judge(h hold, w *written, with company, sure, doubtful *barren) (vain time.Duration) {
	bound := p.setup.Bounds.Elect
	perhaps := false
	for _, c := range p.burdened(h, with) {
		for _, b := range p.barren(c, h, w) {
			vain, perhaps = max(vain, b.tried), perhaps || b.tried > bound
			if (b.tried > bound || b.spent > bound && len(b.tries) >= enoughTries) && doubtful.tries == nil {
				*doubtful = b
			}
		}
	}
	if with.seen = true; !perhaps {
		return vain
	}
	for _, c := range p.burdened(h, with) {
		for _, b := range p.barren(c, h, w) {
			if b.tried-p.excused(b.span) > bound && sure.tries == nil {
				*sure = b
			}
		}
	}
	return vain
}

// burdened returns the times of a leader in such company: where its disk does not matter, those in which that may not have been healthy.
func (p *progress) burdened(h hold, with company) []core {
	all := p.attended(span{h.taken, h.given}, with)
	if with.bare {
		all = slices.DeleteFunc(all, func(c core) bool { return c.members.has(h.node) })
	}
	return all
}

// stumbles reports whether a leader's disk may not have been healthy all the time.
func (p *progress) stumbles(h hold) bool {
	for _, e := range p.world.parts(span{h.taken, h.given}) {
		if e.able.has(h.node) && !e.well.has(h.node) {
			return true
		}
	}
	return false
}

// whoever returns what clients tried to write to a node, and when something got through anywhere, or another node claimed to lead, so
// that it may have had to get through there. No more is owed by a cluster that could do without one of its leaders.
func (p *progress) whoever(node int) *written {
	all := &written{tries: p.of(p.nodes[node]).tries}
	for _, w := range p.writes {
		all.took = append(all.took, w.took...)
	}
	for i := range p.answers {
		if a := &p.answers[i]; a.claims() && int(a.node) != node {
			all.took = append(all.took, span{a.from, a.to})
		}
	}
	slices.SortFunc(all.took, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	all.took = merge(all.took)
	return all
}

// barren returns for how long clients tried in vain in each part of a time in which nothing got through. A pause between two writes
// that is no longer than a lull makes no difference.
func (p *progress) barren(c core, h hold, w *written) (all []barren) {
	for _, quiet := range outside(meeting(w.took, c.span), c.span) {
		b := barren{core: core{quiet, c.members}, hold: h}
		var under []span
		first, _ := slices.BinarySearchFunc(w.tries, quiet.from, func(a *attempt, t time.Duration) int { return cmp.Compare(a.from, t) })
		for _, a := range w.tries[first:] {
			if a.from > quiet.to {
				break
			}
			b.tries = append(b.tries, a)
			s := span{a.from, min(a.to, quiet.to)}
			if n := len(under); n > 0 && s.from-under[n-1].to <= p.lull() {
				s = span{under[n-1].from, max(s.to, under[n-1].to)}
				under = under[:n-1]
			}
			under = append(under, s)
		}
		if b.tried = total(under); len(under) > 0 {
			b.spent = under[len(under)-1].to - under[0].from
		}
		all = append(all, b)
	}
	return all
}

// inName is the result for a leader in name only.
func (p *progress) inName(b barren, figures []Figure) Result {
	e := evidence{b.span, []int{
		p.index(&p.answers[b.first]), p.index(&p.answers[b.last]), b.tries[0].op, b.tries[len(b.tries)-1].op,
	}}
	if a := p.action(b.from); a != nil {
		e.ops = append(e.ops, a.op)
	}
	others, how := b.members, "and had a majority with %s, but nothing written to it got through"
	if others.remove(b.node); !b.members.has(b.node) {
		how = "with a disk at fault, where %s were a majority without it, but nothing that was written got through"
	}
	if how = fmt.Sprintf(how, p.names(others)); others == (set{}) {
		how = "and was a majority by itself, but nothing written to it got through"
	}
	r := invalid(figures, e, "%s led%s from %s to %s %s: clients tried %s, for %s of %s allowed",
		p.nodes[b.node], p.in(p.claimed(&b.hold)), at(b.from), at(b.to), how, count.Of(len(b.tries), "time"),
		longer(b.tried, p.setup.Bounds.Elect), lasted(p.setup.Bounds.Elect))
	r.about = b.members
	return r
}

// perhapsInName is the result for one of which nobody can tell whether it had to get anything through.
func (p *progress) perhapsInName(b barren, figures []Figure) Result {
	why := "the machine stood still then: run it on a quiet one"
	all := b.members
	all.add(b.node)
	if silent := p.silentIn(all, b.span); silent != (set{}) {
		why = p.gaveNone(silent)
	} else if b.tried <= p.setup.Bounds.Elect {
		why = "it was tried too seldom: write more often"
	}
	return unknown(figures, "%s led%s, and nothing written to it got through between %s and %s, but nobody can tell whether it could: %s",
		p.nodes[b.node], p.in(p.claimed(&b.hold)), at(b.from), at(b.to), why)
}
