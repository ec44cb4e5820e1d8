package algorithms

import (
	"encoding/binary"
	"time"

	"recount/election"
)

// raft is the election of Raft: Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm", section
// 5, with two extensions of Ongaro's thesis, "Consensus: Bridging Theory and Practice": pre-vote (9.6) and
// check-quorum (6.2, with the rule of 4.2.3).
//
// The log of clients' commands is in raft_log.go. Without clients it is empty, and AppendEntries are heartbeats only.
//
// The messages go by the paper's names. Term is the sender's current term in all but PreVote, where it is the term that
// the sender would campaign in. Answers carry OK; the answer to PreVote repeats the term asked for in Value. OK in
// RequestVote says that the leader has asked for the campaign.
type raft struct {
	env election.Env
	raftConfig

	// What figure 2 calls persistent state: it is on disk before any message tells of it.
	term     uint64
	votedFor election.ID

	role    election.Role
	leader  election.ID   // the leader of term, once it was heard
	heard   time.Duration // when it was last heard
	asking  bool          // a pre-vote for term+1 is under way
	log     raftLog
	votes   votes    // in the campaign or the pre-vote under way
	answers contacts // as a leader: when each member last answered
	lease   readLease
}

type raftConfig struct {
	timeoutMin, timeoutMax time.Duration
	heartbeat              time.Duration
	preVote, checkQuorum   bool
	leaseReads             bool // reads by the leader's lease: see raft_lease.go
	leaseFromAnswer        bool // a mistake: that lease begins too late
	footguns
}

// footguns are mistakes that were made in implementing Raft. Each is one condition below.
type footguns struct {
	synchronizedTimeouts bool // nodes time out at the same instants
	ignoreHigherTerm     bool // a leader does not step down for a higher term
	forgetVote           bool // term and vote are not on disk
	unsyncedVote         bool // nor synced to it
	noQuorumCheck        bool // a leader does not step down without a majority
	noHeartbeatTimeout   bool // a follower's leader is never missed
	voteTwice            bool // a vote was given, and is given again
	staleLog             bool // a vote for a candidate whose log is older
	minorityQuorum       bool // half of the nodes are taken for a majority
	noBacktrack          bool // a follower whose log differs is sent what it cannot take, again and again
	leaderByVote         bool // who leads is believed only of whom the vote was for
}

// A leader has its heartbeat timer running, everybody else the election timer.
const (
	electionTimer election.Timer = iota
	heartbeatTimer
)

func newRaft(c raftConfig, env election.Env) *raft {
	r := &raft{env: env, raftConfig: c, votes: newVotes(env.Size()), answers: newContacts(env.Size())}
	if r.minorityQuorum {
		r.votes.quorum = max(1, env.Size()/2)
	}
	return r
}

// Start takes up the term and the vote that an earlier life left, as a follower (5.2).
func (r *raft) Start() {
	if b := r.env.Load("vote"); len(b) == 16 {
		r.term, r.votedFor = binary.BigEndian.Uint64(b), election.ID(binary.BigEndian.Uint64(b[8:]))
	}
	if r.loadLog(); r.term > 0 || r.log.last() > 0 {
		r.env.Sync() // the life before may have ended before it could
	}
	r.heard = r.env.Now()
	r.resetElectionTimer()
}

// Status is what this node believes.
func (r *raft) Status() election.Status {
	return election.Status{Role: r.role, Term: r.term, Leader: r.leader}
}

// Expire is the next heartbeat of a leader and the election timeout of anybody else.
func (r *raft) Expire(t election.Timer) {
	switch {
	case t == heartbeatTimer && r.checkQuorum && !r.noQuorumCheck && !r.hasQuorum():
		r.follow(election.None) // 6.2: it has lost its majority and would serve nobody
	case t == heartbeatTimer:
		r.sendHeartbeats()
	case r.preVote:
		r.askForPreVotes()
	default:
		r.campaign(false)
	}
}

// Receive handles a message. A higher term makes its receiver a follower in that term (5.1), save in two requests whose
// sender may just not have heard that all is well.
func (r *raft) Receive(from election.ID, m election.Message) {
	switch {
	case m.Kind == "PreVote": // 9.6: nothing changes by being asked
		would := m.Term > r.term && !r.hearsLeader() && r.accepts(m)
		r.env.Send(from, election.Message{Kind: "PreVoteResponse", Term: r.term, Value: m.Term, OK: would})
		return
	case m.Kind == "RequestVote" && r.checkQuorum && r.hearsLeader() && !m.OK: // 4.2.3
		return
	case m.Term > r.term && (!r.ignoreHigherTerm || r.role != election.Leader):
		r.term, r.votedFor = m.Term, election.None
		r.save()
		r.follow(election.None)
	}
	current := m.Term == r.term
	switch m.Kind {
	case "RequestVote":
		free := r.votedFor == election.None || r.votedFor == from || r.voteTwice && r.role != election.Leader
		grant := current && free && r.accepts(m)
		if grant {
			r.vote(from)
			r.resetElectionTimer()
		}
		r.env.Send(from, election.Message{Kind: "RequestVoteResponse", Term: r.term, OK: grant})
	case "RequestVoteResponse":
		if current && m.OK && r.role == election.Candidate && r.votes.add(from) {
			r.lead()
		}
	case "PreVoteResponse":
		if m.OK && r.asking && m.Value == r.term+1 && r.votes.add(from) {
			r.campaign(false)
		}
	case "AppendEntries":
		// A deposed leader that does not know it yet learns it from the term of this answer.
		answer := election.Message{Kind: "AppendEntriesResponse", Term: r.term}
		if current {
			if r.leaderByVote && r.votedFor != from {
				r.follow(election.None)
			} else {
				r.follow(from)
			}
			r.heard = r.env.Now()
			r.resetElectionTimer()
			answer = r.take(m)
		}
		r.env.Send(from, answer)
	case "AppendEntriesResponse":
		if current {
			r.answers[from] = r.env.Now()
			r.taken(from, m)
		}
	case "TimeoutNow":
		if current {
			r.campaign(true)
		}
	}
}

// askForPreVotes asks who would vote for this node in the next term, without entering that term: a node that cannot win
// disturbs nobody (9.6).
func (r *raft) askForPreVotes() {
	r.role, r.leader, r.asking = election.Follower, election.None, true
	r.resetElectionTimer()
	r.votes.reset()
	if r.votes.add(r.env.ID()) {
		r.campaign(false)
		return
	}
	broadcast(r.env, r.log.describe(election.Message{Kind: "PreVote", Term: r.term + 1}))
}

// campaign enters a new term as its candidate and asks for votes (5.2), perhaps by leave of the leader.
func (r *raft) campaign(byLeave bool) {
	r.role, r.leader, r.asking = election.Candidate, election.None, false
	r.term, r.votedFor = r.term+1, election.None
	r.vote(r.env.ID())
	r.resetElectionTimer()
	r.votes.reset()
	if r.votes.add(r.env.ID()) {
		r.lead()
		return
	}
	broadcast(r.env, r.log.describe(election.Message{Kind: "RequestVote", Term: r.term, OK: byLeave}))
}

// accepts reports whether a candidate has all that may be committed, as far as this node can tell (5.4.1).
func (r *raft) accepts(candidate election.Message) bool {
	return r.staleLog || r.log.upToDate(candidate)
}

// vote gives this term's one vote.
func (r *raft) vote(candidate election.ID) {
	r.asking = false
	if r.votedFor == candidate {
		return // a vote that was asked for twice is one vote
	}
	r.votedFor = candidate
	r.save()
	r.env.Granted(r.term, candidate)
}

// lead begins the leadership of a term that was won.
func (r *raft) lead() {
	r.role, r.leader = election.Leader, r.env.ID()
	r.env.StopTimer(electionTimer)
	r.answers.reset(r.env.Now())
	r.lease.reset()
	r.beginLog()
	r.sendHeartbeats()
}

func (r *raft) sendHeartbeats() {
	r.env.SetTimer(heartbeatTimer, r.heartbeat)
	if r.leaseReads {
		r.askForLease()
	}
	for id := election.ID(1); int(id) <= r.env.Size(); id++ {
		if id != r.env.ID() {
			r.env.Send(id, r.appendEntries(id))
		}
	}
}

// Resign hands the leadership over (thesis, 3.10): the member heard of last of those with the longest logs is to campaign at
// once, and its candidacy is no disturbance. If that fails, the next election timeout brings a leader as ever.
func (r *raft) Resign() {
	if r.role != election.Leader {
		return
	}
	heir := election.None
	for id := election.ID(1); int(id) <= r.env.Size(); id++ {
		longer := r.log.match[id] > r.log.match[heir] || r.log.match[id] == r.log.match[heir] && r.answers[id] > r.answers[heir]
		if id != r.env.ID() && (heir == election.None || longer) {
			heir = id
		}
	}
	if heir != election.None {
		r.env.Send(heir, election.Message{Kind: "TimeoutNow", Term: r.term})
		r.follow(election.None)
	}
}

// follow makes this node a follower of the leader, if one is known, in the current term.
func (r *raft) follow(leader election.ID) {
	led := r.role == election.Leader
	r.role, r.leader, r.asking = election.Follower, leader, false
	if led {
		r.env.StopTimer(heartbeatTimer)
	}
	if led || r.noHeartbeatTimeout {
		r.resetElectionTimer()
	}
}

// hasQuorum reports whether a majority has answered within the longest election timeout.
func (r *raft) hasQuorum() bool {
	return r.answers.count(r.env.ID(), r.env.Now()-r.timeoutMax) >= r.votes.quorum
}

// hearsLeader reports whether this node leads, or has heard the leader within the shortest election timeout. Where leaders read
// by their lease it is bound by that, whatever it has heard of other terms since, and by what an earlier life may have heard.
func (r *raft) hearsLeader() bool {
	return r.role == election.Leader || (r.leader != election.None || r.leaseReads) && r.env.Now()-r.heard < r.timeoutMin
}

// resetElectionTimer draws a new timeout each time, so that split votes do not repeat (5.2).
func (r *raft) resetElectionTimer() {
	switch {
	case r.noHeartbeatTimeout && r.leader != election.None:
		r.env.StopTimer(electionTimer)
	case r.synchronizedTimeouts: // at a full multiple of the shortest timeout on the wall clock, as everybody else
		past := time.Duration(r.env.Wall().UnixNano()) % r.timeoutMin
		r.env.SetTimer(electionTimer, 2*r.timeoutMin-past)
	default:
		r.env.SetTimer(electionTimer, r.timeoutMin+time.Duration(r.env.Rand().Int64N(int64(r.timeoutMax-r.timeoutMin)+1)))
	}
}

// save puts term and vote on disk (figure 2): a node that forgot its vote in a crash could vote again in the same term.
func (r *raft) save() {
	if r.forgetVote {
		return
	}
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 16), r.term)
	r.env.Store("vote", binary.BigEndian.AppendUint64(b, uint64(r.votedFor)))
	if !r.unsyncedVote {
		r.env.Sync()
	}
}
