package checkers

import (
	"context"

	"recount/history"
)

func init() {
	register(Checker{
		Property: "vote-once",
		Holds:    "a node grants at most one candidate its vote in a term, restarts included",
		check:    voteOnce,
	})
}

// voteOnce compares each vote with the first that its node granted in the term. When the votes were reported does not
// matter: that they were granted is enough.
func voteOnce(_ context.Context, f *facts) Result {
	if !f.numbered() {
		return untested(nil, "the election numbers no leaderships, so there is no term to vote twice in: "+unnumbered)
	}
	type ballot struct {
		node string
		term uint64
	}
	given := map[ballot]int{} // where in the history
	voters, terms := map[string]bool{}, map[uint64]bool{}
	first := [2]int{-1, -1}
	votes, twice := 0, 0
	for i := range f.h.Ops {
		op := &f.h.Ops[i]
		if op.F != history.Granted {
			continue
		}
		votes++
		voters[op.Node], terms[op.Vote.Term] = true, true
		k, voted := given[ballot{op.Node, op.Vote.Term}]
		switch {
		case !voted:
			given[ballot{op.Node, op.Vote.Term}] = i
		case f.h.Ops[k].Vote.For != op.Vote.For:
			if twice++; twice == 1 {
				first = [2]int{k, i}
			}
		}
	}
	figures := []Figure{
		figure("votes", votes), figure("terms voted in", len(terms)), figure("voters", len(voters)),
		figure("votes too many", twice), figure("restarts", f.restarts),
	}
	switch {
	case twice > 0:
		a, b := &f.h.Ops[first[0]], &f.h.Ops[first[1]]
		return invalid(figures, evidence{span{a.Time, b.Time}, []int{a.Index, b.Index}},
			"in term %d %s voted for %s and for %s%s", a.Vote.Term, a.Node, a.Vote.For, b.Vote.For, f.after(b.Time))
	case votes == 0:
		return untested(figures, "no node reported a vote: where the election tells its votes, give the cluster time to vote")
	case len(voters) < 2:
		return unknown(figures, "only one node reported its votes: have all of them do so")
	}
	return valid(figures, "%s by %s in %s, never two of one node in one term; %s on the way",
		count(votes, "vote"), count(len(voters), "node"), count(len(terms), "term"), count(f.restarts, "restart"))
}
