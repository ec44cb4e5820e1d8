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
}

// vote is one that was granted.
type vote struct {
	at              time.Duration
	op              int
	node, candidate int32 // by their numbers
	life            int32 // of the node: who comes back after it was taken out is another voter
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
	life, sure := v.life(slices.Index(v.nodes, op.Node), number)
	if !sure {
		return
	}
	now := vote{op.Time, op.Index, v.names.of(op.Node), v.names.of(op.Vote.For), int32(life)}
	k := slices.IndexFunc(*given, func(o vote) bool { return o.node == now.node && o.life == now.life })
	switch {
	case k < 0:
		*given = append(*given, now)
	case counts && (*given)[k].candidate != now.candidate:
		if v.many++; v.many == 1 || number < v.at {
			v.twice, v.term, v.at = [2]vote{(*given)[k], now}, op.Vote.Term, number
		}
	}
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
	case v.granted == 0:
		return untested(figures, "no node reported a vote: a server has no way to; where the nodes of an algorithm in Go tell theirs, give them time to vote")
	case len(v.voters) < 2:
		return unknown(figures, "only one node reported its votes: have all of them do so")
	}
	return valid(figures, "%s by %s in %s, never two of one node in one term; %s on the way",
		count.Of(v.granted, "vote"), count.Of(len(v.voters), "node"), count.Of(v.terms.count, "term"), count.Of(v.restarts, "restart"))
}
