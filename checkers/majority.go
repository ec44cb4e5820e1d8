package checkers

import (
	"slices"
	"time"
)

// What checkers ask of the world. An answer of no may mean that nobody can tell: nothing but a sure yes may accuse.

// with returns the nodes that a leader surely had throughout some epochs, itself included: they were heard, ran, or were sound, whichever is
// asked for, connected with it both ways, and voted, or were what they were at first.
func (w *world) with(leader int, epochs []epoch, which func(*epoch) set) set {
	nodes := first(w.n)
	for i := range epochs {
		e := &epochs[i]
		well := e.roll.belong(which(e))
		if !well.has(leader) {
			return set{}
		}
		peers := e.mutual[leader]
		peers.add(leader)
		nodes = nodes.and(peers).and(well)
	}
	return w.serving(nodes, epochs)
}

// mended returns the nodes whose connections with a leader are whole again by a time, itself included, if they are connected from
// then on: after each time in which they surely or perhaps were not, as long again has passed. TCP sends again after waits that double
// (RFC 6298, section 5.5), so that a connection that was cut may rest for so long when the link is healed.
func (w *world) mended(leader int, by time.Duration) set {
	if leader >= w.n { // it is no member
		return set{}
	}
	nodes := first(w.n)
	apart := make([]time.Duration, w.n) // since when each has not been connected with it, at first since 0; less than 0 if it is
	for k := range w.epochs {
		e := &w.epochs[k]
		if e.from > by {
			break
		}
		for i := range w.n {
			switch whole := e.mutual[leader].has(i); { // never of itself, which stays
			case whole && apart[i] >= 0:
				if 2*e.from-apart[i] > by {
					nodes.remove(i)
				}
				apart[i] = -1
			case !whole && apart[i] < 0:
				apart[i] = e.from
			}
		}
	}
	return nodes
}

// serving leaves out the servers that were not surely connected with all other servers among the nodes.
func (w *world) serving(nodes set, epochs []epoch) set {
	servers := nodes.and(w.servers)
	servers.each(func(i int) {
		others := servers
		others.remove(i)
		for k := range epochs {
			if others.minus(epochs[k].mutual[i]) != (set{}) {
				nodes.remove(i)
				return
			}
		}
	})
	return nodes
}

// keeps reports whether a leader surely kept one majority, itself included: all of it running and connected with it
// throughout s, as far as the faults are known, and throughout watched also seen to be up and giving answers.
func (f *facts) keeps(leader int, s, watched span) bool {
	epochs := f.world.during(s)
	return f.vouched(f.world.with(leader, epochs, (*epoch).ran), leader, watched, f.world.rollsOf(epochs))
}

// mayKeep reports whether it was so as far as the faults are known.
func (f *facts) mayKeep(leader int, s span) bool {
	epochs := f.world.during(s)
	return f.majority(f.world.with(leader, epochs, (*epoch).ran), f.world.rollsOf(epochs)...)
}

// vouched reports whether enough of the nodes, whoever voted in all that time, were seen to run with the leader, and gave answers.
func (f *facts) vouched(nodes set, leader int, watched span, rolls []roll) bool {
	nodes = nodes.and(f.world.with(leader, f.world.during(watched), (*epoch).heard))
	for i := range f.world.n {
		if !f.answering(i, watched) {
			nodes.remove(i)
		}
	}
	return nodes.has(leader) && f.majority(nodes, rolls...)
}

// hearers returns the nodes that may tell node i anything, at first or at second hand, itself included.
func (e *epoch) hearers(i, n int) set {
	all := first(n).minus(e.still)
	var known, next set
	next.add(i)
	for next != (set{}) {
		known = known.or(next)
		var more set
		next.each(func(j int) { more = more.or(all.minus(e.deaf[j])) })
		next = more.minus(known)
	}
	return known
}

// company returns with whom node i may have talked both ways, itself included; nobody if it surely stood still.
func (e *epoch) company(i, n int) (nodes set) {
	if e.still.has(i) {
		return set{}
	}
	for j := range n {
		if !e.still.has(j) && !e.deaf[i].has(j) && !e.deaf[j].has(i) {
			nodes.add(j)
		}
	}
	return nodes
}

// offices works out for each epoch who may have led in it: who may have talked both ways to a majority of those that voted then.
func (f *facts) offices() {
	epochs := f.world.epochs
	for k := range epochs {
		e := &epochs[k]
		for i := range f.world.n {
			if !e.roll.out.has(i) && f.mayBeMajority(e.company(i, f.world.n), &e.roll) {
				e.office.add(i)
			}
		}
	}
}

// core is a fixed majority and somebody who can lead, all connected with each other, up and with right clocks, and the
// longest stretch of time throughout which it surely was that. A node that ended by itself should be up, and counts as if it
// were.
type core struct {
	span
	members set
}

// cores returns every longest stretch throughout which there surely was a core, in the order in which they begin.
func (f *facts) cores() []core {
	var all []core
	w := &f.world
	mutual := make([]set, w.n)
	reached := -1 // the last epoch of the stretch before
	for i := 0; reached < len(w.epochs)-1 && i < len(w.epochs); i++ {
		e := &w.epochs[i]
		copy(mutual, e.mutual)
		well, j := f.due(e), i
		enough := func(nodes set) bool { return f.electorate(nodes, w.rollsOf(w.epochs[i:j+1])...) }
		members, ok := clique(mutual, well, enough)
		for ok && j+1 < len(w.epochs) {
			next := &w.epochs[j+1]
			well = well.and(f.due(next))
			for k := range mutual {
				mutual[k] = mutual[k].and(next.mutual[k])
			}
			j++
			if together(members, mutual, well) && enough(members) {
				continue
			}
			more, still := clique(mutual, well, enough)
			if !still {
				j--
				break
			}
			members = more
		}
		if ok && j > reached {
			reached = j
			all = append(all, core{span{e.from, w.until(j, f.end)}, members})
		}
		if next := j + 1; ok && next < len(w.epochs) {
			if _, alone := clique(w.epochs[next].mutual, f.due(&w.epochs[next]), func(nodes set) bool {
				return f.electorate(nodes, w.rollsOf(w.epochs[next:next+1])...)
			}); !alone { // no stretch goes beyond it
				i = next
			}
		}
	}
	return all
}

// due returns who is well, or would be if it had not ended by itself, and surely has a part in electing.
func (f *facts) due(e *epoch) set {
	return e.well.or(e.gone).and(e.roll.votes)
}

// upright returns a core that was up throughout s, if there was one: nobody has to be taken for up who had ended by itself.
func (f *facts) upright(s span) (members set, ok bool) {
	during := f.world.during(s)
	well, mutual := first(f.world.n), slices.Clone(during[0].mutual)
	for k := range during {
		e := &during[k]
		well = well.and(e.well).and(e.roll.votes)
		for i := range mutual {
			mutual[i] = mutual[i].and(e.mutual[i])
		}
	}
	return clique(mutual, well, func(nodes set) bool { return f.electorate(nodes, f.world.rollsOf(during)...) })
}

// together reports whether all members are alive and have all others among their friends.
func together(members set, friends []set, alive set) bool {
	if members.minus(alive) != (set{}) {
		return false
	}
	ok := true
	members.each(func(i int) {
		others := members
		others.remove(i)
		ok = ok && others.minus(friends[i]) == (set{})
	})
	return ok
}

// effort bounds the search for a clique. Networks as faults leave them take less than n steps, mostly.
const effort = 2000

// clique looks for nodes among alive that are all friends of each other, and enough: which no part is of too few. It finds
// them if there are any, unless that takes more than its effort.
func clique(friends []set, alive set, enough func(set) bool) (set, bool) {
	steps := 0
	var search func(among set) (set, bool)
	search = func(among set) (set, bool) {
		steps++
		if steps > effort || !enough(among) {
			return set{}, false
		}
		worst, most := -1, 0
		among.each(func(i int) {
			strangers := among.minus(friends[i])
			strangers.remove(i)
			if n := strangers.count(); n > most {
				worst, most = i, n
			}
		})
		if worst < 0 {
			return among, true
		}
		without := among
		without.remove(worst)
		if found, ok := search(without); ok {
			return found, true
		}
		with := among.and(friends[worst])
		with.add(worst)
		return search(with)
	}
	return search(alive)
}
