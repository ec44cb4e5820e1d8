package algorithms

import (
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
)

func init() {
	targets.Register(&targets.Target{
		Name:   "raft-lease-reads",
		About:  "Raft with pre-vote and check-quorum, whose leader answers reads by a lease, without asking a majority each time",
		Source: `Ongaro, "Consensus: Bridging Theory and Practice", section 6.4.1`,
		Options: append(raftTimes(), targets.Option{
			Name: "lease-from-answer", Kind: targets.Bool, Default: "false",
			About:  "the lease is counted from when followers' answers come, and not from when they were asked for",
			Breaks: []string{"linearizable"},
		}),
		Promises: targets.OnDisk(append([]targets.Promise{
			{Property: "linearizable", While: "no clock drifts by more than 5 %", Unless: driftsFar},
		}, raftPreVotePromises...)...),
		Bounds: func(o targets.Options) history.Bounds { return raftBounds(o, 10) },
		Node: func(o targets.Options, env election.Env) election.Node {
			c := raftTimesOf(o)
			c.preVote, c.checkQuorum, c.leaseReads = true, true, true
			c.leaseFromAnswer = o.Bool("lease-from-answer")
			return newRaft(c, env)
		},
	})
}

// readLease is what a leader has of its lease. By check-quorum (4.2.3) a follower votes for nobody within the shortest election
// timeout of a heartbeat, unless the leader itself has asked for the campaign, and then that leader reads no more. So what a
// majority has answered binds that majority from when it was asked for, or later.
type readLease struct {
	asked []askedRound  // rounds that no majority has answered, oldest first
	since time.Duration // when the latest was asked for that a majority has answered
}

type askedRound struct {
	round uint64
	at    time.Duration
}

func (l *readLease) reset() { l.asked, l.since = l.asked[:0], never }

// askForLease begins a round, which the next heartbeats carry.
func (r *raft) askForLease() {
	r.log.round++
	r.lease.asked = append(r.lease.asked, askedRound{r.log.round, r.env.Now()})
}

// takeLease takes note of the rounds that a majority has answered.
func (r *raft) takeLease() {
	if !r.leaseReads {
		return
	}
	confirmed := r.majorityOf(r.log.rounds, r.log.round)
	for len(r.lease.asked) > 0 && r.lease.asked[0].round <= confirmed {
		r.lease.since = r.lease.asked[0].at
		if r.leaseFromAnswer {
			r.lease.since = r.env.Now()
		}
		r.lease.asked = r.lease.asked[1:]
	}
}

// hasLease reports whether nobody else can have been elected, as far as clocks drift apart by a tenth at most.
func (r *raft) hasLease() bool {
	return r.leaseReads && (r.env.Size() == 1 || r.lease.since > r.env.Now()-r.timeoutMin*9/10)
}
