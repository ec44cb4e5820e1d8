package checkers

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"time"

	"recount/internal/count"
)

func init() {
	register(Checker{
		Property: "bounded-terms",
		Holds:    "a node that cannot win does not push the term up without end (term inflation)",
		believes: true,
		timed:    true,
		check:    boundedTerms,
	})
}

// cutOff is for how long a node must be cut off for its terms to show something: one that campaigns on and on has then
// gained more than it is allowed to.
func (f *facts) cutOff() time.Duration {
	return time.Duration(f.setup.Bounds.Terms+1) * f.setup.Bounds.Silence
}

// exile is a time in which a node was up and may have heard of always the same others, or of ever fewer of them, too few for a majority.
type exile struct {
	span
	node int
	with set // whom it may have heard at first, itself included
}

// growth is how a node's term grew in an exile.
type growth struct {
	exile
	base   uint64  // the term that it may have had when the exile began
	told   *answer // who told of that; nil if nobody had told of any
	opens  *answer // its first answer in the exile
	most   *answer // the one with the highest term
	excess *answer // the first one with too high a term
	step   *answer // the same where no other one was higher than that of the beginning, and none need have been by then: terms may step by more than one
	last   *answer
}

func boundedTerms(_ context.Context, f *facts) Result {
	if !f.numbered() {
		return untested(nil, "the election numbers no leaderships, so there is no term that could grow: "+unnumbered)
	}
	if why := f.unjudgeable(); why != "" {
		return unknown(nil, "%s", why)
	}
	long := f.cutOff()
	var first found[growth]
	var longest, watched time.Duration
	tests, guilty, most := 0, 0, 0
	var stepped growth
	unwatched := false // whether a node that was cut off for long was not asked as often as others, or did not answer
	exiles := f.exiles()
	for _, x := range f.awake(exiles) {
		longest = max(longest, x.length())
		g, ok := f.growth(x)
		if !ok {
			unwatched = unwatched || x.length() >= long
			continue
		}
		most = max(most, int(g.most.term-min(g.base, g.most.term)))
		if g.excess != nil {
			guilty++
			first.take(g, span{g.from, g.excess.to}, f, "bounded-terms")
			for _, later := range f.growths(x) {
				first.take(later, span{later.from, later.excess.to}, f, "bounded-terms")
			}
		}
		if stepped.step == nil { // nobody has yet
			stepped = g
		}
		if seen := g.last.from - g.opens.to; seen >= long { // what it gained before its first answer nobody knows
			tests++
			watched += seen
		} else if x.length() >= long && x.length()-seen > 2*f.lull() {
			unwatched = true
		}
	}
	figures := []Figure{
		figure("times cut off for long", tests), duration("longest cut off", longest),
		figure("most terms gained", most), figure("times above what is allowed", guilty),
	}
	switch {
	case first.any:
		first := &first.it
		e := evidence{span{first.from, first.excess.to}, []int{f.index(first.opens), f.index(first.excess)}}
		if first.told != nil {
			e.ops = append(e.ops, f.index(first.told))
		}
		if did := f.action(first.from); did != nil {
			e.ops = append(e.ops, did.op)
		}
		return invalid(figures, e,
			"%s raised its term from %d to %d in %s while it could hear %s, by more than the %s that a node may gain so",
			f.nodes[first.node], first.base, first.excess.term, lasted(first.excess.to-first.from), f.company(first.exile),
			count.Of(int(f.setup.Bounds.Terms), "term"))
	case stepped.step != nil:
		return unknown(figures, "%s raised its term from %d to %d while it could hear %s, and nobody can tell whether it would have gone on, or terms "+
			"step by so much here: ask it more often, or leave it cut off for longer", f.nodes[stepped.node], stepped.base, stepped.step.term, f.company(stepped.exile))
	case f.tried > 0 && f.took == 0:
		return unknown(figures, "%s", f.noEffect())
	case longest < long && slices.ContainsFunc(exiles, func(x exile) bool { return x.length() >= long }):
		return untested(figures, "no node was cut off from every majority for %s in which the machine did not stand still: run it on a quiet one", lasted(long))
	case longest < long:
		return untested(figures, "no node was cut off from every majority for %s: isolate one for that long", lasted(long))
	case tests == 0 && !unwatched:
		return untested(figures, "nodes were cut off from every majority for up to %s, and seen for less than %s of it: isolate one for longer", lasted(longest), lasted(long))
	case tests == 0:
		return unknown(figures, "nodes were cut off for up to %s, but it was less than %s from their first answer then to their last: ask them, more often, or leave one cut off for longer",
			lasted(longest), lasted(long))
	}
	step := ""
	if most > int(f.setup.Bounds.Terms) {
		step = ", in one step, as terms may go up by more than one"
	}
	return valid(figures, "cut off from every majority %s, %s in all, nodes gained %s at most%s; %s",
		count.Of(tests, "time"), lasted(watched), count.Of(most, "term"), step, f.watch())
}

// exiles returns the exiles of all nodes, node by node.
func (f *facts) exiles() (all []exile) {
	w := &f.world
	for i := range w.n {
		open, heard := false, set{}
		for k := range w.epochs {
			e := &w.epochs[k]
			s := span{e.from, w.until(k, f.end)}
			if !e.up.has(i) || e.office.has(i) || f.servers.has(i) || e.roll.out.has(i) || e.roll.may.has(i) {
				open = false
				continue
			}
			with := e.hearers(i, w.n) // in whose company it was, and more
			if f.everMajority(with, e.from) {
				open = false
				continue
			}
			goesOn := open && with.minus(heard) == (set{}) // who is heard no more brings nothing in
			open, heard = true, with
			if goesOn {
				all[len(all)-1].to = s.to
				continue
			}
			all = append(all, exile{s, i, with})
		}
	}
	return all
}

// awake returns the parts of exiles about which the machine did not stand still, in the order in which they began.
func (f *facts) awake(all []exile) (awake []exile) {
	for _, x := range all {
		for _, s := range outside(f.stalls, x.span) {
			awake = append(awake, exile{s, x.node, x.with})
		}
	}
	slices.SortStableFunc(awake, func(a, b exile) int { return cmp.Compare(a.from, b.from) })
	return awake
}

// growth compares what a node reported in an exile with what it may have had when that began: what anybody may have
// had to report before, or any of the exiled reported first. It is false where the node reported nothing.
func (f *facts) growth(x exile) (g growth, ok bool) {
	g.exile = x
	g.base, g.told = f.highest(x.from)
	answers := f.answersIn(x.span)
	var begun set
	for i := range answers {
		a := &answers[i]
		if !a.tells() {
			continue
		}
		before := a.from < x.from // it may be older than the exile, whoever it is of
		if a.polled && !before && x.with.has(int(a.node)) && !begun.has(int(a.node)) {
			begun.add(int(a.node))
			before = true
		}
		if before && a.term > g.base {
			g.base, g.told = a.term, a
		}
	}
	var first *answer // that tells a higher term than that of the beginning
	several := false
	for i := range answers {
		a := &answers[i]
		if int(a.node) != x.node || !a.tells() || g.opens == nil && (!a.polled || a.from < x.from) {
			continue
		}
		if g.opens == nil {
			g.opens, g.most = a, a
		}
		if g.last = a; a.term > g.most.term {
			g.most = a
		}
		if a.term <= g.base {
			continue
		}
		if first == nil {
			first = a
		}
		several = several || a.term != first.term
		if g.excess == nil && a.term-g.base > f.setup.Bounds.Terms { // the sum may be too large for a term
			g.excess = a
		}
	}
	if g.excess != nil && !several {
		if g.last.from-g.excess.to < f.cutOff() { // else it would have gone on by then
			g.step = g.excess
		}
		g.excess = nil
	}
	return g, g.opens != nil
}

// growths are those by which a node raised its term too far in the parts of an exile in which that is promised, each by itself.
func (f *facts) growths(x exile) (all []growth) {
	for _, part := range f.promised("bounded-terms", x.span) {
		if g, ok := f.growth(exile{part, x.node, x.with}); ok && g.excess != nil {
			all = append(all, g)
		}
	}
	return all
}

// company says whom an exiled node could hear.
func (f *facts) company(x exile) string {
	x.with.remove(x.node)
	if x.with.count() == 0 {
		return "nobody"
	}
	return "only " + f.names(x.with)
}

// answersIn returns the answers that came within s, before its end.
func (f *facts) answersIn(s span) []answer {
	i := sort.Search(len(f.answers), func(i int) bool { return f.answers[i].to >= s.from })
	j := sort.Search(len(f.answers), func(j int) bool { return f.answers[j].to >= s.to })
	return f.answers[i:j]
}
