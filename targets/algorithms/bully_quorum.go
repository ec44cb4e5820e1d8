package algorithms

import (
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
)

func init() {
	targets.Register(&targets.Target{
		Name:    "bully-quorum",
		About:   "bully whose winner leads only with a majority's acknowledgement, and only for as long as it has that",
		Source:  bullySource + ", section III, with a quorum of N/2+1 acknowledgements for a victory",
		NoTerms: true,
		Options: append(bullyOptions(), bullyPatience),
		// A highest node that comes and goes is elected each time: leadership bounces.
		Promises: []targets.Promise{
			{Property: "exclusive-leadership", While: "no clock drifts by more than 5 %", Unless: driftsFar},
			// Who yields to a higher node bids others acknowledge that one, which may reach those that it cannot reach itself.
			{Property: "quorum", While: "links are cut both ways if at all", Suspended: targets.CutsOneWay},
			{Property: "agreement"},
			{Property: "elects", While: wholeNetwork, Suspended: targets.BreaksLinks},
			{Property: "learns-leader", While: wholeNetwork, Suspended: targets.BreaksLinks},
		},
		Bounds: func(o targets.Options) history.Bounds {
			return postBounds(o, 2*(pledgeTime(o)+targets.Scaled(o, "answer")+targets.Scaled(o, "victory")))
		},
		Node: func(o targets.Options, env election.Env) election.Node {
			b := &bullyQuorum{bully: newBully(o, env, targets.Scaled(o, "victory")), support: newSupport(env.Size())}
			b.length = pledgeTime(o)
			b.won = b.claim
			return b
		},
	})
}

// pledgeTime is how long an acknowledgement binds: as long as missing heartbeats take to be noticed by a threshold.
func pledgeTime(o targets.Options) time.Duration {
	return time.Duration(o.Number("missed") * float64(targets.Scaled(o, "heartbeat")))
}

// bullyQuorum is a bully that takes the post once a majority has acknowledged its COORDINATOR. Two leaders would still
// come about if members changed their minds while a leader lives. So an acknowledgement is a pledge: for a time its
// giver acknowledges nobody else, unless the leader releases it. Heartbeats ask for it again, and a leader without a
// majority of fresh ones has lost the post.
//
// A leader that hears a higher node's COORDINATOR yields, as a bully must, and bids its members acknowledge that one
// (RESIGN, naming it). Value is in COORDINATOR and HEARTBEAT when they were sent, in ACK which of them it is for, in
// RESIGN when the COORDINATOR of the named one was sent; Term is in RESIGN when it was sent itself.
type bullyQuorum struct {
	*bully
	pledge       // this node's own
	support      // and the others'
	claimed bool // as a candidate: COORDINATOR was sent
}

// Start is bound: an earlier life may have given its word.
func (b *bullyQuorum) Start() {
	b.bind(election.None, 0, b.env.Now())
	b.bully.Start()
}

// Status looks at the clock: a leader that was cut off, or stood still, leads no more.
func (b *bullyQuorum) Status() election.Status {
	if b.role == election.Leader && !b.backed() {
		return election.Status{}
	}
	return b.bully.Status()
}

// backed reports whether a majority is surely pledged to this node.
func (b *bullyQuorum) backed() bool {
	return b.lasts(b.env.ID(), b.env.Now(), b.length)
}

// Expire ends a claim that had no success, and a leadership without a majority.
func (b *bullyQuorum) Expire(t election.Timer) {
	if t == beatTimer && !b.backed() || t == electionHeld && b.role == election.Candidate && b.claimed {
		b.release(election.Message{})
		b.elect()
		return
	}
	b.bully.Expire(t)
}

// Receive handles what pledges are about, and leaves the rest to bully.
func (b *bullyQuorum) Receive(from election.ID, m election.Message) {
	switch m.Kind {
	case "COORDINATOR", "HEARTBEAT":
		b.asked(from, m)
	case "ACK":
		b.granted(from, time.Duration(m.Value))
		if b.claimed {
			b.tally()
		}
	case "RESIGN":
		b.released(from, time.Duration(m.Term))
		if m.Node == election.None && b.leader == from {
			b.elect()
		} else if m.Node != election.None && m.Node != b.env.ID() {
			b.asked(m.Node, m)
		}
	default:
		b.bully.Receive(from, m)
	}
}

// asked acknowledges a node that wants to lead, or does so, if that is the highest that this node knows of and it is
// not bound to another.
func (b *bullyQuorum) asked(from election.ID, m election.Message) {
	switch {
	case from < b.env.ID() && !b.aside:
		if b.role == election.Leader {
			b.env.Send(from, b.heartbeat())
		}
		return
	case b.role == election.Leader || b.claimed:
		b.release(election.Message{Node: from, Value: m.Value})
		b.await()
	}
	if !b.free(from, b.env.Now()) {
		return
	}
	b.bind(from, time.Duration(m.Value), b.env.Now())
	if m.Kind == "HEARTBEAT" {
		b.follow(from)
	}
	b.env.Send(from, election.Message{Kind: "ACK", Value: m.Value})
}

// claim asks everybody to acknowledge the victory, once this node is bound to no other itself.
func (b *bullyQuorum) claim() {
	now := b.env.Now()
	if !b.free(b.env.ID(), now) {
		b.env.SetTimer(electionHeld, b.until-now)
		return
	}
	b.bind(b.env.ID(), now, now)
	b.claimed, b.since = true, now
	b.env.SetTimer(electionHeld, b.answer)
	broadcast(b.env, election.Message{Kind: "COORDINATOR", Value: uint64(now)})
	b.tally()
}

// tally takes the post if a majority has acknowledged the claim.
func (b *bullyQuorum) tally() {
	if b.backed() {
		b.claimed = false
		b.lead()
		b.beat()
	}
}

// release gives everybody their pledges back, to be given to m.Node if that is somebody.
func (b *bullyQuorum) release(m election.Message) {
	b.claimed = false
	b.unbind()
	m.Kind, m.Term = "RESIGN", uint64(b.env.Now())
	broadcast(b.env, m)
}

// Resign gives up the post, and lets the next lower one have it for a time.
func (b *bullyQuorum) Resign() {
	if b.role == election.Leader {
		b.release(election.Message{})
		b.await()
		b.aside = true
	}
}
