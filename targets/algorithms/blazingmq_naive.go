package algorithms

import (
	"slices"
	"time"

	"recount/election"
	"recount/targets"
)

func init() {
	targets.Register(&targets.Target{
		Name:    "blazingmq-naive",
		About:   "BlazingMQ's elector before it had terms: proposals, a majority of yes, heartbeats",
		Source:  blazingmqSource + `, "Naïve Leader Election Algorithm"`,
		NoTerms: true,
		Options: slices.DeleteFunc(slices.Clone(blazingmqOptions), func(o targets.Option) bool { return o.Name == "forget-term" }),
		// Nothing is promised. A majority of yes to one proposal does not keep anybody from saying yes to the next.
		Bounds: blazingmqBounds,
		Node: func(o targets.Options, env election.Env) election.Node {
			return &blazingmqNaive{
				env:       env,
				heartbeat: targets.Scaled(o, "heartbeat"),
				silence:   blazingmqSilence(o),
				initial:   targets.Scaled(o, "initial-wait"),
				random:    targets.Scaled(o, "random-wait"),
				result:    targets.Scaled(o, "result-wait"),
				votes:     newVotes(env.Size()),
			}
		},
	})
}

// blazingmqNaive is the first attempt that BlazingMQ's article makes, with the questions that it then asks answered in
// the only way there is without a number to compare:
//   - which of two concurrent proposals gets a yes: both, from everybody who has not made one;
//   - whether a follower supports somebody else than its leader: yes, who proposes must have missed it;
//   - which of two leaders is stale: nobody can tell, so followers obey the one they heard last, and leaders nobody.
type blazingmqNaive struct {
	env                                         election.Env
	heartbeat, silence, initial, random, result time.Duration

	phase  phase
	leader election.ID // who was heard last, or this node
	votes  votes       // for the proposal under way

	counter uint64                 // the highest number of an update that was seen
	applied map[election.ID]uint64 // the update of each leader that was applied last
}

// Start waits for a leader that may be there already, and then as anybody who has none.
func (b *blazingmqNaive) Start() { b.wait(b.initial) }

// Status is what this node believes.
func (b *blazingmqNaive) Status() election.Status {
	s := election.Status{Leader: b.leader}
	switch b.phase {
	case proposed:
		s.Role = election.Candidate
	case leading:
		s.Role = election.Leader
	}
	return s
}

// Expire ends the wait of the phase.
func (b *blazingmqNaive) Expire(election.Timer) {
	switch b.phase {
	case leading:
		b.sendHeartbeats()
	case waiting:
		b.propose()
	default: // support was too weak, or the leader is silent
		b.wait(0)
	}
}

// Receive handles a message.
func (b *blazingmqNaive) Receive(from election.ID, m election.Message) {
	switch m.Kind {
	case "ElectionProposal":
		yes := b.phase == waiting || b.phase == following
		if yes {
			b.follow(election.None)
		}
		b.env.Send(from, election.Message{Kind: "ElectionProposalResponse", OK: yes})
	case "ElectionProposalResponse":
		if b.phase == proposed && m.OK && b.votes.add(from) {
			b.lead()
		}
	case "LeaderHeartbeat":
		if b.phase != leading {
			b.follow(from)
		}
	case "Advisory":
		if b.phase != leading && m.Value > b.applied[from] {
			b.follow(from)
			b.apply(m.Value, from)
		}
	}
}

// Update sends the next update. Its number goes on from the highest that was seen, in want of a term.
func (b *blazingmqNaive) Update() bool {
	if b.phase != leading {
		return false
	}
	b.apply(b.counter+1, b.env.ID())
	broadcast(b.env, election.Message{Kind: "Advisory", Value: b.counter})
	return true
}

// apply applies an update. Those of one leader come in order; between two leaders' nothing tells.
func (b *blazingmqNaive) apply(counter uint64, from election.ID) {
	if b.applied == nil {
		b.applied = map[election.ID]uint64{}
	}
	b.counter, b.applied[from] = max(b.counter, counter), counter
	b.env.Applied(0, counter, from)
}

// wait lets a random time pass, on top of the given one.
func (b *blazingmqNaive) wait(d time.Duration) {
	b.phase, b.leader = waiting, election.None
	b.env.SetTimer(phaseTimer, d+time.Duration(b.env.Rand().Int64N(int64(b.random)+1)))
}

// propose asks for support.
func (b *blazingmqNaive) propose() {
	b.phase = proposed
	b.votes.reset()
	if b.votes.add(b.env.ID()) {
		b.lead()
		return
	}
	b.env.SetTimer(phaseTimer, b.result)
	broadcast(b.env, election.Message{Kind: "ElectionProposal"})
}

// follow waits for heartbeats: of a leader that was heard, or, given nobody, of whom this node has just supported.
func (b *blazingmqNaive) follow(leader election.ID) {
	b.phase, b.leader = following, leader
	b.env.SetTimer(phaseTimer, b.silence)
}

// lead begins a leadership. Nothing but the node's death ends it.
func (b *blazingmqNaive) lead() {
	b.phase, b.leader = leading, b.env.ID()
	b.sendHeartbeats()
}

func (b *blazingmqNaive) sendHeartbeats() {
	b.env.SetTimer(phaseTimer, b.heartbeat)
	broadcast(b.env, election.Message{Kind: "LeaderHeartbeat"})
}
