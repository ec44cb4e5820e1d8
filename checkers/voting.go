package checkers

import (
	"slices"
	"sort"
	"time"

	"recount/history"
)

// Who votes, over time: those that do at first, as far as the cluster was not asked to have it otherwise. Who is asked to be taken out,
// or in, may vote or not until that is known.

// roll is what the nodes are to the cluster. Who is in none of the three does not vote, and did not at first. Candidates that elect
// through servers are in it, too, though they vote never.
type roll struct {
	votes set // surely, as do candidates for what they are
	may   set // be one or the other: it is being changed, or nobody could see
	out   set // was removed, or does not vote any more
}

// belong are those of some nodes who surely are what they were at first, or vote.
func (r *roll) belong(nodes set) set { return nodes.minus(r.out).minus(r.may) }

// fixed reports whether a set of nodes surely is a majority of voters, whoever else of those that may vote does, given who can vote.
func (r *roll) fixed(nodes, franchise set) bool {
	sure, may := franchise.and(r.votes), franchise.and(r.may)
	return 2*nodes.and(sure).count() > sure.count()+may.minus(nodes).count()
}

// possible reports whether it is one if just those of them vote that may.
func (r *roll) possible(nodes, franchise set) bool {
	sure, may := franchise.and(r.votes), franchise.and(r.may).and(nodes)
	return 2*nodes.and(sure.or(may)).count() > sure.or(may).count()
}

// enlist takes note of who votes from a time on. What lasts no time does not count.
func (w *world) enlist(at time.Duration, r roll) {
	if n := len(w.rolls); n > 0 && w.since[n-1] == at {
		w.rolls, w.since = w.rolls[:n-1], w.since[:n-1]
	}
	if n := len(w.rolls); n == 0 || w.rolls[n-1] != r {
		w.rolls, w.since = append(w.rolls, r), append(w.since, at)
	}
}

// outs returns when a node surely was out; or also when it may have been, or may not vote.
func (f *facts) outs(node int, perhaps bool) (all []span) {
	for k := range f.world.epochs {
		if r := &f.world.epochs[k].roll; r.out.has(node) || perhaps && r.may.has(node) {
			all = append(all, span{f.world.epochs[k].from, f.world.until(k, f.end)})
		}
	}
	return merge(all)
}

// majority reports whether a set of nodes surely has a majority of the voters in it, at all times.
func (f *facts) majority(nodes set, rolls ...roll) bool {
	if f.store >= 0 { // who reaches the store can be elected, and stay, whoever else there is
		return nodes.has(f.store)
	}
	return f.most(nodes, rolls...)
}

// most reports whether a set of nodes surely has more than half of the voters in it, at all times.
func (f *facts) most(nodes set, rolls ...roll) bool {
	for i := range rolls {
		if !rolls[i].fixed(nodes, f.franchise) {
			return false
		}
	}
	return true
}

// mayBeMajority reports whether it may have one.
func (f *facts) mayBeMajority(nodes set, r *roll) bool {
	if f.store >= 0 {
		return nodes.has(f.store)
	}
	return r.possible(nodes, f.franchise)
}

// everMajority reports whether it may have been one at a time or before: who was away may know no newer voters.
func (f *facts) everMajority(nodes set, by time.Duration) bool {
	for i := range f.world.rolls {
		if f.world.since[i] <= by && f.mayBeMajority(nodes, &f.world.rolls[i]) {
			return true
		}
	}
	return false
}

// rollsOf returns who voted in some epochs, each time that it was otherwise.
func (w *world) rollsOf(epochs []epoch) []roll {
	if len(w.rolls) == 1 || len(epochs) == 0 {
		return w.rolls[:1]
	}
	after := func(e *epoch) int {
		return sort.Search(len(w.since), func(k int) bool { return w.since[k] > e.from })
	}
	return w.rolls[after(&epochs[0])-1 : after(&epochs[len(epochs)-1])]
}

// changed is a time in which the nemesis was at a node's membership: who comes back is another member than it was.
type changed struct {
	span
	node        int
	first, last int  // the numbers of the ops
	failed      bool // it certainly was not changed
	told        bool // what came of it, by its own end; or it surely was out when that began, and could be no other member than it is
}

// reseat takes note that the nemesis sets out to change members. What it certainly will not have changed goes on.
func (g *gathering) reseat(at time.Duration, intended []history.Changes, fails bool) {
	for _, c := range intended {
		for _, m := range c.Members() { // what is told at the end, too, is noted twice
			i := g.node(m.Node)
			if g.world.n > 0 && i >= g.world.n && m.As == history.Voter && !fails {
				g.added = m.Node
			}
			g.reseated = append(g.reseated, changed{span: span{at, never}, node: i, first: g.newest(), last: int(^uint(0) >> 1), told: g.world.out(i)})
			if !fails {
				g.stir(at) // what was told until now is compared with what was told before
				g.seen[i].highest, g.seen[i].heard, g.seen[i].another = 0, 0, never
			}
		}
	}
}

// reseatedBy takes note of what came of what was begun with an op. Of what nobody knows it may come true until an ok names that
// membership.
func (g *gathering) reseatedBy(op *history.Op, begun *beginning, told []history.Member) {
	named := func(node int) bool {
		return slices.ContainsFunc(told, func(m history.Member) bool { return m.Node == g.nodes[node] })
	}
	var open, closed set
	for k := range g.reseated {
		c := &g.reseated[k]
		if c.first == begun.number && op.Type == history.Fail || op.Type == history.OK && c.to == never && named(c.node) {
			c.to, c.last, c.failed, c.told = op.Time, g.newest(), op.Type == history.Fail, c.told || c.first == begun.number
			closed.add(c.node)
		} else if c.to == never {
			open.add(c.node)
		}
	}
	closed.minus(open).each(func(i int) {
		if s := &g.seen[i]; s.another == never {
			s.another = op.Time
		}
	})
}

// life tells which member of its name a node was when it did something, by the number of an op, or would have been if nothing had come
// of what nobody knows the outcome of; -1 if it may have been either.
func (f *facts) life(node, number int, told bool) (life int32) {
	for i := range f.reseated {
		switch c := &f.reseated[i]; {
		case c.node != node || number < c.first || told && !c.told:
		case number <= c.last:
			return -1
		case !c.failed:
			life++
		}
	}
	return life
}
