package checkers

import (
	"context"
	"time"

	"recount/history"
)

func init() {
	register(Checker{
		Property: "vote-once",
		Holds:    "a node grants at most one candidate its vote in a term, restarts included",
		of:       []history.F{history.Granted},
		watch: func(f *facts) watcher {
			return &votes{facts: f, given: map[ballot]vote{}, voters: map[string]bool{}, terms: map[uint64]bool{}}
		},
	})
}

// votes compares each vote with the first that its node granted in the term. When the votes were reported does not
// matter: that they were granted is enough.
type votes struct {
	*facts
	given         map[ballot]vote
	voters        map[string]bool
	terms         map[uint64]bool
	granted, many int     // all votes; of them, those too many
	twice         ballot  // the first that was given two candidates
	to            [2]vote // and those two
}

// ballot is what a node has one vote in.
type ballot struct {
	node string
	term uint64
}

// vote is one that was granted.
type vote struct {
	at        time.Duration
	op        int
	candidate string
}

func (v *votes) take(op *history.Op) {
	b, now := ballot{op.Node, op.Vote.Term}, vote{op.Time, op.Index, op.Vote.For}
	v.granted++
	v.voters[b.node], v.terms[b.term] = true, true
	before, voted := v.given[b]
	switch {
	case !voted:
		v.given[b] = now
	case before.candidate != now.candidate:
		if v.many++; v.many == 1 {
			v.twice, v.to = b, [2]vote{before, now}
		}
	}
}

func (v *votes) check(context.Context) Result {
	if !v.numbered() {
		return untested(nil, "the election numbers no leaderships, so there is no term to vote twice in: "+unnumbered)
	}
	figures := []Figure{
		figure("votes", v.granted), figure("terms voted in", len(v.terms)), figure("voters", len(v.voters)),
		figure("votes too many", v.many), figure("restarts", v.restarts),
	}
	switch {
	case v.many > 0:
		a, b := v.to[0], v.to[1]
		r := invalid(figures, evidence{span{a.at, b.at}, []int{a.op, b.op}}, "in term %d %s voted for %s and for %s%s",
			v.twice.term, v.twice.node, a.candidate, b.candidate, v.after(b.at))
		r.about = v.group(v.twice.node, a.candidate, b.candidate)
		return r
	case v.granted == 0:
		return untested(figures, "no node reported a vote: where the election tells its votes, give the cluster time to vote")
	case len(v.voters) < 2:
		return unknown(figures, "only one node reported its votes: have all of them do so")
	}
	return valid(figures, "%s by %s in %s, never two of one node in one term; %s on the way",
		count(v.granted, "vote"), count(len(v.voters), "node"), count(len(v.terms), "term"), count(v.restarts, "restart"))
}
