package checkers

import (
	"slices"
	"time"
)

// in company: when nodes surely had a majority with them, for what leaders owe to it.

// company is what there must have been in a time.
type company struct {
	who  []int             // each of them well, and with the majority; connected with each other unless they elect through others
	also func(*epoch) bool // nil for nothing else
	seen bool              // all of it gave answers often enough
	bare bool              // whatever the disks of who: unless those surely are healthy throughout, the majority is one without them. Peers only
}

// attended returns every longest part of s throughout which there surely was such company, with one majority. Its members are
// that majority, and more that were connected with all of who.
func (f *facts) attended(s span, c company) (all []core) {
	parts := f.pieces(s, c.seen)
	mutual := make([]set, f.world.n)
	var rolls []roll
	// from returns how far there was such company from a piece on: the first piece up to which there was not, and who it was before.
	from := func(i int) (j int, members set) {
		nodes := first(f.world.n)
		f.serving.each(func(k int) { mutual[k] = nodes })
		rolls = rolls[:0]
		for j = i; j < len(parts) && (c.also == nil || c.also(parts[j].e)); j++ {
			nodes = nodes.and(parts[j].with(c))
			f.serving.each(func(k int) { mutual[k] = mutual[k].and(parts[j].e.mutual[k]) })
			if r := parts[j].e.roll; len(rolls) == 0 || r != rolls[len(rolls)-1] {
				rolls = append(rolls, r)
			}
			now, enough := f.attends(nodes, mutual, c, rolls)
			if !enough {
				break
			}
			members = now
		}
		return j, members
	}
	reached := -1 // the last piece of the part before
	for i := 0; reached < len(parts)-1 && i < len(parts); i++ {
		end, members := from(i)
		if last := end - 1; last >= i && last > reached {
			reached = last
			all = append(all, core{span{parts[i].from, parts[last].to}, members})
		}
		if end < len(parts) && end > i {
			if alone, _ := from(end); alone == end { // no part goes beyond it
				i = end
			}
		}
	}
	return all
}

// piece is a part of an epoch in which always the same nodes gave answers often enough.
type piece struct {
	span
	e      *epoch
	silent set
}

// with returns who was well, belonged to the cluster as at first or as a voter, and was connected with all of some nodes, themselves included; nobody if one of them was not, or silent.
// One whose disk may be as it likes is left out of them where it is not healthy.
func (p *piece) with(c company) set {
	nodes := p.e.roll.belong(p.e.well.minus(p.silent))
	all := nodes
	if c.bare {
		all = p.e.roll.belong(p.e.able.minus(p.silent))
	}
	for _, k := range c.who {
		if !all.has(k) {
			return set{}
		}
		peers := p.e.mutual[k]
		peers.add(k)
		nodes = nodes.and(peers)
	}
	return nodes
}

// pieces cuts s where epochs begin and, if wanted, where nodes fall silent and answer again. What lasts no time is left out.
func (f *facts) pieces(s span, silences bool) (all []piece) {
	for part, e := range f.world.parts(s) {
		if !silences {
			all = append(all, piece{part, e, set{}})
			continue
		}
		cuts := []time.Duration{part.from, part.to}
		for i := range f.world.n {
			for _, o := range meeting(f.seen[i].silent, part) {
				o = o.within(part)
				cuts = append(cuts, o.from, o.to)
			}
		}
		slices.Sort(cuts)
		for k, to := range cuts[1:] {
			p := piece{span{cuts[k], to}, e, set{}}
			for i := range f.world.n {
				if slices.ContainsFunc(meeting(f.seen[i].silent, p.span), p.overlaps) {
					p.silent.add(i)
				}
			}
			all = append(all, p)
		}
	}
	return slices.DeleteFunc(all, func(p piece) bool { return p.length() == 0 })
}

// attends returns who of some nodes can be a majority with those who have to be with it. Servers count if all of them, and
// enough, are connected with each other.
func (f *facts) attends(nodes set, mutual []set, c company, rolls []roll) (set, bool) {
	for _, k := range c.who {
		if !f.service() && !c.bare && !nodes.has(k) {
			return set{}, false
		}
	}
	if f.serving == (set{}) {
		return nodes, f.majority(nodes, rolls...)
	}
	servers, ok := clique(mutual, nodes.and(f.serving), func(s set) bool { return f.majority(s, rolls...) })
	return nodes.minus(f.serving).or(servers), ok
}

// silentIn returns who of some nodes gave no answer in s for longer than it may.
func (f *facts) silentIn(nodes set, s span) (silent set) {
	nodes.each(func(i int) {
		if !f.answering(i, s) {
			silent.add(i)
		}
	})
	return silent
}

// reigns returns the times, longer than an election may take, throughout which somebody surely led.
func (f *facts) reigns() (all []hold) {
	for _, h := range f.holds() {
		if h.given-h.taken > f.setup.Bounds.Elect {
			all = append(all, h)
		}
	}
	return all
}
