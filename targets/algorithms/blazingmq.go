package algorithms

import (
	"encoding/binary"
	"time"

	"recount/election"
)

// blazingmq is the elector of BlazingMQ as its article tells it ("Leader Election and State Machine Replication in
// BlazingMQ", docs/architecture/election_rsm), with terms, and with scouting or without. Where the article leaves a
// thing open it does as the source does (mqbnet_elector.cpp):
//   - selfTerm is on disk before any message tells of it, as the elector is started with the term of its ledger. The
//     article starts every node with 0: a node that restarts then says yes a second time in one term.
//   - A vote makes its candidate a tentative leader: the voter waits for its first heartbeat before it waits at random.
//   - A leader that has lost its majority gives up. BlazingMQ is told of lost peers by their TCP connections; here a
//     peer is lost whose answers to the last heartbeats are missing. Its farewell (LeadershipCession) is left out: it
//     only saves the followers the wait for the missing heartbeats.
//
// The messages go by the article's names. Term is the sender's selfTerm in all but the two of scouting, where it is the
// term that would be proposed. Responses carry OK.
type blazingmq struct {
	env election.Env
	blazingmqConfig

	selfTerm uint64
	phase    phase
	leader   election.ID // the perceived leader: one that was heard, or this node
	votes    votes       // for the proposal, or for the scouting, under way
	answers  contacts    // as a leader: when each peer last answered
	applied  sequence    // the update that was applied last
}

// sequence is BlazingMQ's LeaderMessageSequence: what a leader numbers its updates ("advisories") by.
type sequence struct{ term, counter uint64 }

type blazingmqConfig struct {
	heartbeat  time.Duration
	silence    time.Duration // after which heartbeats count as missed
	initial    time.Duration // wait at the start
	random     time.Duration // longest random wait
	result     time.Duration // wait for answers to a proposal or a scouting
	scouting   bool
	forgetTerm bool
}

// phase is what a node waits for. It waits for one thing at a time, so it needs one timer.
type phase uint8

const (
	waiting   phase = iota // FOLLOWER without a leader: for a random time to pass
	scouted                // FOLLOWER that has asked whether it would be supported: for answers
	proposed               // CANDIDATE: for answers
	following              // FOLLOWER: for the next heartbeat of a leader, or the first of a tentative one
	leading                // LEADER: for the time of the next heartbeat
)

const phaseTimer election.Timer = 0

func newBlazingmq(c blazingmqConfig, env election.Env) *blazingmq {
	return &blazingmq{env: env, blazingmqConfig: c, votes: newVotes(env.Size()), answers: newContacts(env.Size())}
}

// Start waits for a leader that may be there already, and then as anybody who has none.
func (b *blazingmq) Start() {
	if v := b.env.Load("term"); len(v) == 8 && !b.forgetTerm {
		b.selfTerm = binary.BigEndian.Uint64(v)
		b.env.Sync() // the life before may have ended before it could
	}
	b.wait(b.initial)
}

// Status is what this node believes.
func (b *blazingmq) Status() election.Status {
	s := election.Status{Term: b.selfTerm, Leader: b.leader}
	switch b.phase {
	case proposed:
		s.Role = election.Candidate
	case leading:
		s.Role = election.Leader
	}
	return s
}

// Expire ends the wait of the phase.
func (b *blazingmq) Expire(election.Timer) {
	switch {
	case b.phase == leading && b.answers.majority(b.env.ID(), b.env.Now()-b.silence):
		b.sendHeartbeats()
	case b.phase == waiting && b.scouting:
		b.scout()
	case b.phase == waiting:
		b.propose()
	default: // the majority is lost, or was not reached in time, or the leader is silent
		b.wait(0)
	}
}

// Receive handles a message. A higher term is always honoured, in all but scouting.
func (b *blazingmq) Receive(from election.ID, m election.Message) {
	switch m.Kind {
	case "ElectionScouting":
		// One who perceives a leader supports nobody else. Of those who do not, ids decide, so that two nodes that scout
		// at once do not support each other.
		would := b.leader == election.None && b.env.ID() < from
		b.env.Send(from, election.Message{Kind: "ElectionScoutingResponse", Term: m.Term, OK: would})
	case "ElectionScoutingResponse":
		if b.phase == scouted && m.Term == b.selfTerm+1 && m.OK && b.votes.add(from) {
			b.propose()
		}
	case "ElectionProposal":
		yes := m.Term > b.selfTerm
		if yes {
			b.adopt(m.Term)
			b.follow(election.None)
			b.env.Granted(m.Term, from)
		}
		b.env.Send(from, election.Message{Kind: "ElectionProposalResponse", Term: b.selfTerm, OK: yes})
	case "ElectionProposalResponse":
		if b.phase != proposed {
			return
		}
		if m.Term > b.selfTerm {
			b.adopt(m.Term)
			b.wait(0)
		} else if m.Term == b.selfTerm && m.OK && b.votes.add(from) {
			b.lead()
		}
	case "LeaderHeartbeat":
		if m.Term >= b.selfTerm {
			b.adopt(m.Term)
			b.follow(from)
		}
		// To a leader of a lower term this is the article's InvalidHeartbeat: its term tells that there is a newer one.
		b.env.Send(from, election.Message{Kind: "HeartbeatResponse", Term: b.selfTerm})
	case "Advisory":
		if m.Term >= b.selfTerm { // that of a stale leader is dropped
			b.adopt(m.Term)
			b.follow(from)
			b.apply(sequence{m.Term, m.Value}, from)
		}
	case "HeartbeatResponse":
		if b.phase != leading {
			return
		}
		if m.Term > b.selfTerm {
			b.adopt(m.Term)
			b.wait(0)
		} else if m.Term == b.selfTerm {
			b.answers[from] = b.env.Now()
		}
	}
}

// wait lets a random time pass, on top of the given one, so that nodes that lost a leader together do not all propose
// together.
func (b *blazingmq) wait(d time.Duration) {
	b.phase, b.leader = waiting, election.None
	b.env.SetTimer(phaseTimer, d+time.Duration(b.env.Rand().Int64N(int64(b.random)+1)))
}

// scout asks who would support a proposal, without raising selfTerm: a node that nobody would support disturbs nobody.
func (b *blazingmq) scout() {
	b.phase = scouted
	b.votes.reset()
	if b.votes.add(b.env.ID()) {
		b.propose()
		return
	}
	b.env.SetTimer(phaseTimer, b.result)
	broadcast(b.env, election.Message{Kind: "ElectionScouting", Term: b.selfTerm + 1})
}

// propose raises selfTerm and asks for support in it.
func (b *blazingmq) propose() {
	b.phase = proposed
	b.adopt(b.selfTerm + 1)
	b.env.Granted(b.selfTerm, b.env.ID())
	b.votes.reset()
	if b.votes.add(b.env.ID()) {
		b.lead()
		return
	}
	b.env.SetTimer(phaseTimer, b.result)
	broadcast(b.env, election.Message{Kind: "ElectionProposal", Term: b.selfTerm})
}

// follow waits for heartbeats: of a leader that was heard, or, given nobody, of whom this node has just voted for.
func (b *blazingmq) follow(leader election.ID) {
	b.phase, b.leader = following, leader
	b.env.SetTimer(phaseTimer, b.silence)
}

// lead begins the leadership of the term that was proposed.
func (b *blazingmq) lead() {
	b.phase, b.leader = leading, b.env.ID()
	b.answers.reset(b.env.Now())
	b.sendHeartbeats()
}

func (b *blazingmq) sendHeartbeats() {
	b.env.SetTimer(phaseTimer, b.heartbeat)
	broadcast(b.env, election.Message{Kind: "LeaderHeartbeat", Term: b.selfTerm})
}

// adopt raises selfTerm. Since a node says yes to higher terms only, this is also all the memory that votes need.
func (b *blazingmq) adopt(term uint64) {
	if term == b.selfTerm {
		return
	}
	b.selfTerm = term
	b.env.Store("term", binary.BigEndian.AppendUint64(nil, term))
	b.env.Sync()
}

// Update sends the next update of this leader's term.
func (b *blazingmq) Update() bool {
	if b.phase != leading {
		return false
	}
	next := sequence{b.selfTerm, 1}
	if b.applied.term == next.term {
		next.counter = b.applied.counter + 1
	}
	b.apply(next, b.env.ID())
	broadcast(b.env, election.Message{Kind: "Advisory", Term: next.term, Value: next.counter})
	return true
}

// apply applies an update unless a later one was.
func (b *blazingmq) apply(s sequence, from election.ID) {
	if s.term > b.applied.term || s.term == b.applied.term && s.counter > b.applied.counter {
		b.applied = s
		b.env.Applied(s.term, s.counter, from)
	}
}
