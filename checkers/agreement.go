package checkers

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"recount/history"
	"recount/internal/count"
)

func init() {
	register(Checker{
		Property: "agreement",
		Holds:    "in one term no two nodes name different leaders; after healing, all reachable nodes name the same one",
		check:    agreement,
	})
}

// naming is an answer that names a leader.
type naming struct {
	leader string
	make   int32 // how the name is made, if it is no node's: two that are made alike are of two nodes; 0 if it is a node's
	by     *answer
}

// named returns whom an undivided answer names as leader. Who claims to lead names itself.
func (f *facts) named(a *answer) naming {
	n := naming{by: a}
	switch {
	case a.torn:
	case a.role == history.Leader:
		n.leader = f.nodes[a.node]
	default:
		n.leader, n.make = f.leader(a), f.makes[a.leader]
	}
	return n
}

// agreement compares whom nodes name: in one term, whenever that was; and in whatever term, once the cluster had been
// whole for as long as an election may take.
func agreement(_ context.Context, f *facts) Result {
	if why := f.blind(); why != "" {
		return unknown(nil, "%s", why)
	}
	f.makes = f.strangers()
	var other alias
	split, terms := f.inTerms(&other)
	apart, times := f.whenWhole(&other)
	figures := []Figure{
		figure("terms with a leader named by several", terms), figure("times agreed with nothing at fault", times),
	}
	switch {
	case split.any && (split.out || !apart.out):
		a, b := split.it[0], split.it[1]
		e := evidence{split.it.span(), []int{f.index(a.by), f.index(b.by)}}
		if a.by.node == b.by.node {
			return invalid(figures, e, "in term %d %s named %s leader, and then %s", a.by.term, f.nodes[a.by.node], a.leader, b.leader)
		}
		return invalid(figures, e, "in term %d %s named %s leader and %s named %s",
			a.by.term, f.nodes[a.by.node], a.leader, f.nodes[b.by.node], b.leader)
	case apart.any:
		a, b, when := apart.it.names[0], apart.it.names[1], apart.it.span
		e := evidence{when, []int{f.index(a.by), f.index(b.by)}}
		return invalid(figures, e, "%s named %s leader and %s named %s for %s on end, with nothing at fault for %s before",
			f.nodes[a.by.node], a.leader, f.nodes[b.by.node], b.leader, lasted(when.length()), lasted(f.setup.Bounds.Elect))
	case other.any:
		a, b := other.it[0], other.it[1]
		strange := a.leader
		if a.make == 0 {
			strange = b.leader
		}
		nobody := "no node that answered has a name like"
		if f.introduced() {
			nobody = "begin names no node"
		}
		return unknown(figures, "%s named %s leader and %s named %s, and %s %s, which may be another name of one: call each node by one name",
			f.nodes[a.by.node], a.leader, f.nodes[b.by.node], b.leader, nobody, strange)
	case terms == 0 && f.mistaken.why != "": // and so nothing was looked for at any time
		return unknown(figures, "in no term did two nodes name a leader, and %s: nobody knows when nothing was at fault; %s", f.mistaken.why, f.mistaken.way)
	case len(f.leads) > 0 && !f.hearsay():
		return untested(figures, "no node named another one as the leader: nothing tells whether nodes agree on one")
	case terms+times == 0:
		unless, way := "", "ask all of them, and leave them alone for longer"
		if f.onlyStalls() {
			unless, way = ", unless the machine stood still", "run it on a quiet one"
		}
		return untested(figures, "nothing to compare: in no term did two nodes name a leader, nor did two at the end of %s with nothing at fault%s: %s",
			lasted(f.lull()), unless, way)
	case f.untold() != "":
		return unknown(figures, "%s", f.untold())
	}
	in := ""
	if f.numbered() {
		in = "in " + count.Of(terms, "term") + ", and "
	}
	return valid(figures, "nodes that named a leader named the same one: %s%s after a while with nothing at fault; %s", in, count.Of(times, "time"), f.watch())
}

// hearsay reports whether any node named another one as the leader.
func (f *facts) hearsay() bool {
	return slices.ContainsFunc(f.answers, func(a answer) bool {
		leader := f.named(&a).leader
		return leader != "" && leader != f.nodes[a.node]
	})
}

// rift is two answers that name different leaders, in the order in which they came.
type rift [2]naming

// span is from when the first may be true until the second had come.
func (r rift) span() span {
	return span{min(r[0].by.begins(), r[1].by.begins()), r[1].by.to}
}

// alias is the first two answers of which one may name the same node by another name.
type alias struct {
	it  rift
	any bool
}

// take takes note of two.
func (k *alias) take(a, b naming) {
	if !k.any {
		k.it, k.any = rift{a, b}, true
	}
}

// disagreement is a time in which two nodes named different leaders throughout.
type disagreement struct {
	span
	names rift
}

// introduced reports whether begin says who the nodes are: in histories of others it names but who answered.
func (f *facts) introduced() bool { return len(f.setup.Nodes) > 0 && f.setup.Model == "" }

// strangers tells of each name of a leader how it is made, if it is none of the nodes'. Where nobody says who the nodes are, each name is one
// of theirs that is made as the name of one who answered: node-3, where node-1 did, but not 10.0.0.3:2379.
func (f *facts) strangers() []int32 {
	makes, shapes := make([]int32, len(f.leaderNames)), newNames()
	for i, leader := range f.leaderNames {
		like := shape(leader)
		if !slices.ContainsFunc(f.nodes, func(node string) bool { return node == leader || !f.introduced() && shape(node) == like }) {
			makes[i] = shapes.of(like)
		}
	}
	return makes
}

// shape is how a name is made: a for letters in a row, 0 for digits, and what else it has.
func shape(name string) string {
	var last rune
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r):
			r = 'a'
		case unicode.IsDigit(r):
			r = '0'
		default:
			last = r
			return r
		}
		if r == last {
			return -1
		}
		last = r
		return r
	}, name)
}

// inTerms returns the first two answers that name different leaders of one term, and how many terms there are whose
// leader several nodes named. It takes note of the first two of which one may name the same node by another name.
func (f *facts) inTerms(other *alias) (split found[rift], terms int) {
	if !f.numbered() {
		return split, 0
	}
	type key struct {
		term uint64
		make int32
	}
	type seen struct {
		naming
		several bool
		latest  naming // the one that was asked for last: if there is a later split outside of all lapses, it shows one
	}
	heard := map[key]*seen{}
	first := map[uint64]naming{}
	var last key // and what was heard under it: most answers follow one of the same term
	var s *seen
	for i := range f.answers {
		n := f.named(&f.answers[i])
		if n.leader == "" || n.by.term == 0 {
			continue
		}
		if k := (key{n.by.term, n.make}); k != last {
			last, s = k, heard[k]
		}
		if s == nil {
			if o, known := first[last.term]; known {
				other.take(o, n)
			} else {
				first[last.term] = n
			}
			s = &seen{naming: n, latest: n}
			heard[last] = s
			continue
		}
		switch {
		case s.leader != n.leader:
			r := rift{s.naming, n}
			split.take(r, r.span(), f, "agreement")
		case !s.several && s.by.node != n.by.node:
			terms++
			s.several = true
		}
		if s.latest.leader != n.leader {
			r := rift{s.latest, n} // the first may have been suspended
			split.take(r, r.span(), f, "agreement")
		}
		if n.by.begins() > s.latest.by.begins() {
			s.latest = n
		}
	}
	return split, terms
}

// whenWhole looks at the times in which nothing was at fault. It counts those at whose end nodes named the same leader,
// and returns two nodes that named different ones throughout a part of such a time in which both were heard, from when an election
// must have been over.
func (f *facts) whenWhole(other *alias) (apart found[disagreement], times int) {
	if f.unjudgeable() != "" || f.mistaken.why != "" {
		return apart, 0
	}
	for _, c := range f.whole() {
		if agreed(f.throughout(span{c.to - f.lull(), c.to}, c.members)) {
			times++
		}
		f.disagree(&apart, other, c)
	}
	return apart, times
}

// agreed reports whether two name a leader, and all that do the same one.
func agreed(names []naming) bool {
	named := slices.DeleteFunc(names, func(n naming) bool { return n.leader == "" })
	return len(named) > 1 && !slices.ContainsFunc(named, func(n naming) bool { return n.leader != named[0].leader })
}

// disagree looks for two members that name different leaders in a time in which nothing was at fault.
func (f *facts) disagree(apart *found[disagreement], other *alias, c calm) {
	heard := f.heard(c.span)
	var over span
	var names []naming // then
	for i := range heard {
		for j := range i {
			for _, p := range heard[i] {
				for _, q := range meeting(heard[j], p) {
					both := p.within(q)
					if both.from += f.setup.Bounds.Elect; both.length() < f.lull() {
						continue
					}
					if both != over {
						over, names = both, f.throughout(both, c.members)
					}
					switch a, b := names[j], names[i]; {
					case a.leader == "" || b.leader == "" || a.leader == b.leader:
					case a.make == b.make:
						apart.take(disagreement{over, rift{a, b}}, over, f, "agreement")
					default:
						other.take(a, b)
					}
				}
			}
		}
	}
}

// heard returns the parts of a time in which each node never gave no undivided answer for longer than a lull.
func (f *facts) heard(s span) [][]span {
	all := make([][]span, len(f.nodes))
	parts := make([]span, len(f.nodes)) // that are under way
	for i := range parts {
		parts[i] = span{s.from, s.from}
	}
	answers := f.answersIn(s)
	for k := range answers {
		a := &answers[k]
		if a.torn || a.from < s.from {
			continue
		}
		part := &parts[a.node]
		if !a.dull && a.from-part.to > f.lull() {
			all[a.node] = append(all[a.node], *part)
			*part = span{a.from, a.from}
		}
		part.to = max(part.to, a.to)
	}
	for i, part := range parts {
		if s.to-part.to <= f.lull() {
			part.to = s.to
		}
		all[i] = append(all[i], part)
	}
	return all
}

// calm is a time in which nothing was at fault, and who the members were then.
type calm struct {
	span
	members set
}

// whole returns the times in which nothing was at fault, without those about which the machine stood still, if they were long
// enough for each member to be asked.
func (f *facts) whole() (all []calm) {
	for _, s := range f.sound() {
		for _, part := range outside(f.stalls, s.span) {
			if part.length() >= f.lull() {
				all = append(all, calm{part, s.members})
			}
		}
	}
	return all
}

// onlyStalls reports whether nothing was at fault for long enough at some time, but never without a machine that stood still.
func (f *facts) onlyStalls() bool {
	return f.unjudgeable() == "" && len(f.whole()) == 0 &&
		slices.ContainsFunc(f.sound(), func(s calm) bool { return s.length() >= f.lull() })
}

// sound returns the times in which all nodes that were not surely out were surely up, members and connected with each other.
func (f *facts) sound() (all []calm) {
	for part, e := range f.world.parts(span{0, f.end}) {
		members := first(f.world.n).minus(e.roll.out)
		switch last := len(all) - 1; {
		case !together(members, e.mutual, e.roll.belong(e.well)):
		case last >= 0 && all[last].to == part.from && all[last].members == members:
			all[last].to = part.to
		default:
			all = append(all, calm{part, members})
		}
	}
	return all
}

// throughout returns whom each member named in all of its answers within s, if it gave several.
func (f *facts) throughout(s span, members set) []naming {
	type voice struct {
		answers int
		wavers  bool
	}
	voices, names := make([]voice, len(f.nodes)), make([]naming, len(f.nodes))
	answers := f.answersIn(s)
	for i := range answers {
		a := &answers[i]
		if a.torn || a.from < s.from || !members.has(int(a.node)) {
			continue
		}
		n, v := f.named(a), &voices[a.node]
		if v.answers++; v.answers == 1 {
			names[a.node] = n
		}
		v.wavers = v.wavers || n.leader != names[a.node].leader
	}
	for i, v := range voices {
		if v.answers < 2 || v.wavers {
			names[i] = naming{}
		}
	}
	return names
}
