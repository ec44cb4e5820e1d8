package checkers

import (
	"context"
	"slices"
	"time"

	"recount/history"
	"recount/internal/count"
)

func init() {
	register(Checker{
		Property: "vote-once",
		Holds:    "a node grants at most one candidate its vote in a term, restarts included",
		of:       []history.F{history.Granted},
		watch: func(f *facts) watcher {
			return &votes{facts: f, terms: newRecent[[]vote](f), names: newNames(), voters: map[string]bool{}}
		},
	})
}

// votes compares each vote with the first that its node granted in the term. When the votes were reported does not
// matter: that they were granted is enough.
type votes struct {
	*facts
	terms         recent[[]vote] // the first vote of each node
	names         names
	voters        map[string]bool
	granted, many int     // all votes; of them, those too many
	twice         [2]vote // the first of those, and which it clashes with
	term          uint64  // in which that is
	at            int     // the number of its op
	perhaps       [2]vote // two that are too many if nothing came of what was done to memberships with unknown outcome
	alias         [2]vote // two for candidates of which one may be the other by another name
}

// vote is one that was granted.
type vote struct {
	at              time.Duration
	op              int
	node, candidate int32 // by their numbers
	life            int32 // of the node: who comes back after it was taken out is another voter; -1 if that is not known
	perhaps         int32 // which it would be if nothing had come of what nobody knows the outcome of
}

func (v *votes) take(op *history.Op) {
	if op.Vote.Term == 0 { // none: it is no vote
		return
	}
	v.granted++
	v.voters[op.Node] = true
	if given := v.terms.of(op.Vote.Term); given != nil {
		v.cast(given, op, v.newest(), true)
	}
}

// cast takes note of a vote in its term, unless its node has voted. Then it may count as one too many.
func (v *votes) cast(given *[]vote, op *history.Op, number int, counts bool) {
	node := slices.Index(v.nodes, op.Node)
	now := vote{op.Time, op.Index, v.names.of(op.Node), v.names.of(op.Vote.For), v.life(node, number, false), v.life(node, number, true)}
	repeats := false
	one := func(life, other int32) bool { return life == other && life >= 0 }
	for _, o := range *given {
		if o.node != now.node {
			continue
		}
		same := o.candidate == now.candidate || v.apart(o, now)
		repeats = repeats || same && o.life == now.life && o.perhaps == now.perhaps
		switch {
		case !counts || o.candidate == now.candidate:
		case !same:
			if v.alias[1].op == 0 && (one(o.life, now.life) || one(o.perhaps, now.perhaps)) {
				v.alias = [2]vote{o, now}
			}
		case one(o.life, now.life):
			if v.many++; v.many == 1 || number < v.at {
				v.twice, v.term, v.at = [2]vote{o, now}, op.Vote.Term, number
			}
		case v.perhaps[1].op == 0 && one(o.perhaps, now.perhaps):
			v.perhaps = [2]vote{o, now}
		}
	}
	if !repeats {
		*given = append(*given, now)
	}
}

// apart reports whether two votes surely are for two candidates: both are called as nodes are, or neither is and their names are made alike.
func (v *votes) apart(a, b vote) bool {
	is := func(k int32) bool { return !v.introduced() || slices.Contains(v.nodes, v.names.all[k]) }
	return is(a.candidate) == is(b.candidate) && (is(a.candidate) || shape(v.names.all[a.candidate]) == shape(v.names.all[b.candidate]))
}

// recount goes through the history once more, for the votes in terms that had been forgotten.
func (v *votes) recount() error {
	if len(v.terms.late) == 0 {
		return nil
	}
	late := v.terms.replay()
	return v.again(func(op *history.Op, number int) {
		if op.F != history.Granted {
			return
		}
		if given, counts := late.at(op.Vote.Term, number); given != nil {
			v.cast(given, op, number, counts)
		}
	})
}

// unknownMembers is why it is not known which member of its name a node is, and the way out.
const unknownMembers = "nobody knows what came of what was done to its membership: see that such faults are seen to end"

func (v *votes) check(context.Context) Result {
	if !v.numbered() {
		return untested(nil, "the election numbers no leaderships, so there is no term to vote twice in: "+unnumbered)
	}
	if err := v.recount(); err != nil {
		return unknown(nil, "%s", unread(err))
	}
	figures := []Figure{
		figure("votes", v.granted), figure("terms voted in", v.terms.count), figure("voters", len(v.voters)),
		figure("votes too many", v.many), figure("restarts", v.restarts),
	}
	switch {
	case v.many > 0:
		a, b := v.twice[0], v.twice[1]
		voter, first, second := v.names.all[a.node], v.names.all[a.candidate], v.names.all[b.candidate]
		r := invalid(figures, evidence{span{a.at, b.at}, []int{a.op, b.op}}, "in term %d %s voted for %s and for %s%s",
			v.term, voter, first, second, v.after(b.at))
		r.about = v.group(voter, first, second)
		return r
	case v.perhaps[1].op > 0:
		a, b := v.perhaps[0], v.perhaps[1]
		return unknown(figures, "%s voted for %s and for %s in one term%s, and nobody can tell whether it was another member by then: %s",
			v.names.all[a.node], v.names.all[a.candidate], v.names.all[b.candidate], v.after(b.at), unknownMembers)
	case v.alias[1].op > 0:
		a, b := v.names.all[v.alias[0].candidate], v.names.all[v.alias[1].candidate]
		strange := a
		if slices.Contains(v.nodes, a) {
			strange = b
		}
		return unknown(figures, "%s voted for %s and for %s in one term, and begin names no node %s, which may be another name of one: call each node by one name",
			v.names.all[v.alias[0].node], a, b, strange)
	case v.granted == 0:
		return untested(figures, "no node reported a vote: a server has no way to; where the nodes of an algorithm in Go tell theirs, give them time to vote")
	case len(v.voters) < 2:
		return unknown(figures, "only one node reported its votes: have all of them do so")
	}
	return valid(figures, "%s by %s in %s, never two of one node in one term; %s on the way",
		count.Of(v.granted, "vote"), count.Of(len(v.voters), "node"), count.Of(v.terms.count, "term"), count.Of(v.restarts, "restart"))
}
