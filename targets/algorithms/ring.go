package algorithms

import (
	"slices"
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
	"recount/targets/algorithms/detector"
)

func init() {
	targets.Register(&targets.Target{
		Name:     "ring",
		About:    "ELECTION goes round a ring and collects who is alive, the highest of them wins, and ELECTED goes round",
		Source:   ringSource,
		NoTerms:  true,
		Options:  ringOptions,
		Promises: ringPromises,
		Bounds:   ringBounds,
		Node:     func(o targets.Options, env election.Env) election.Node { return newRing(o, env, true) },
	})
	targets.Register(&targets.Target{
		Name:     "ring-max",
		About:    "ring whose ELECTION carries only the highest id that it has met",
		Source:   ringSource,
		NoTerms:  true,
		Options:  ringOptions,
		Promises: ringPromises,
		Bounds:   ringBounds,
		Node:     func(o targets.Options, env election.Env) election.Node { return newRing(o, env, false) },
	})
}

const ringSource = `Petrov, Database Internals, chapter 10, "Ring Algorithm"; after Chang and Roberts, "An Improved ` +
	`Algorithm for Decentralized Extrema-Finding in Circular Configurations of Processes" (1979)`

// A split ring closes up in each of its parts, and each elects a leader.
var ringPromises = []targets.Promise{
	{
		Property: "agreement", While: "no message is late: what still goes round tells of elections that are over",
		Unless: targets.SlowsAnswers,
	},
	{Property: "elects", While: wholeNetwork, Suspended: targets.BreaksLinks},
	{Property: "learns-leader", While: wholeNetwork, Suspended: targets.BreaksLinks},
}

var ringOptions = append([]targets.Option{
	targets.Scale("0.1"),
	{
		Name: "ack", Kind: targets.Duration, Default: "200ms",
		About: "how long a node waits for its successor to take a message over",
	},
}, detector.Options("1s", "3")...)

// ringBounds allows for two elections by two dozen nodes of which half are dead.
func ringBounds(o targets.Options) history.Bounds { return postBounds(o, 60*targets.Scaled(o, "ack")) }

// ring is a node of a ring in the order of the ids. Who misses the leader sends ELECTION to its successor; everybody
// adds itself and passes it on. When it is back, the highest that was met is announced by ELECTED, which goes round as
// well. A successor that does not take a message over (ACK) is dead and skipped. When the node that sent a message
// round is skipped itself, the message has come round, too. What comes once more, since the network repeats it or since a node
// was skipped that was only late, has been passed on already: else each round of it would multiply by all that comes twice.
//
// Node is who sent the message round, and Term a number that it drew for it, which ACK repeats. ELECTION carries the ids in List, or
// the highest in Value; ELECTED has the winner in Value. The leader's heartbeats go to everybody directly: how it is missed is no
// matter of the ring.
type ring struct {
	post
	ack     time.Duration
	collect bool               // ELECTION carries all ids
	queue   []election.Message // to be passed on, one after the other
	to      election.ID        // who was asked to take the first of them over
	known   []uint64           // the numbers of the latest messages that were taken over
}

const (
	ackTimer   = freeTimer     // the successor is dead
	roundTimer = freeTimer + 1 // the election that this node began is lost
)

func newRing(o targets.Options, env election.Env, collect bool) *ring {
	return &ring{post: newPost(o, env), ack: targets.Scaled(o, "ack"), collect: collect}
}

// Start listens for a leader that may be there.
func (r *ring) Start() { r.await() }

// Expire ends a wait.
func (r *ring) Expire(t election.Timer) {
	switch {
	case t == beatTimer:
		r.beat()
	case t == silenceTimer, t == roundTimer && r.leader == election.None:
		r.elect()
	case t == ackTimer:
		r.skip()
	}
}

// Receive handles a message.
func (r *ring) Receive(from election.ID, m election.Message) {
	switch m.Kind {
	case "HEARTBEAT":
		r.hear(from)
	case "RESIGN":
		if r.leader == from {
			r.elect()
		}
	case "ACK":
		if len(r.queue) > 0 && from == r.to && m.Term == r.queue[0].Term {
			r.next(from)
		}
	case "ELECTION", "ELECTED":
		r.env.Send(from, election.Message{Kind: "ACK", Term: m.Term})
		if !slices.Contains(r.known, m.Term) {
			r.know(m.Term)
			r.pass(m)
		}
	}
}

// know remembers a message by its number, until so many others have passed as a few rounds of each member are.
func (r *ring) know(number uint64) {
	if r.known = append(r.known, number); len(r.known) > 4*r.env.Size() {
		r.known = r.known[1:]
	}
}

// elect sends an election round.
func (r *ring) elect() {
	r.leave(election.Candidate)
	r.env.SetTimer(roundTimer, r.round())
	r.forward(r.join(r.fresh("ELECTION")))
}

// round is time enough for a message to go round.
func (r *ring) round() time.Duration { return 2 * time.Duration(r.env.Size()) * r.ack }

// fresh is a message of this node's to be sent round.
func (r *ring) fresh(kind string) election.Message {
	return election.Message{Kind: kind, Node: r.env.ID(), Term: uint64(r.env.Rand().Uint32())}
}

// join adds this node to an election, unless it has just resigned.
func (r *ring) join(m election.Message) election.Message {
	switch {
	case r.aside:
	case r.collect:
		m.List = append(slices.Clone(m.List), r.env.ID())
	default:
		m.Value = max(m.Value, uint64(r.env.ID()))
	}
	return m
}

// pass handles a message on its way round.
func (r *ring) pass(m election.Message) {
	switch back := m.Node == r.env.ID(); {
	case m.Kind == "ELECTION" && back:
		r.announce(m)
	case m.Kind == "ELECTION":
		if r.role == election.Follower {
			r.env.SetTimer(silenceTimer, r.round()) // one election is enough: its outcome is waited for
		}
		r.forward(r.join(m))
	case !back:
		r.obey(election.ID(m.Value))
		r.forward(m)
	}
}

// announce ends an election that has come round, and sends its outcome round.
func (r *ring) announce(m election.Message) {
	winner := m.Value
	for _, id := range m.List {
		winner = max(winner, uint64(id))
	}
	if winner != 0 {
		r.obey(election.ID(winner))
		outcome := r.fresh("ELECTED")
		outcome.Value = winner
		r.forward(outcome)
	}
}

// obey does as an election has decided.
func (r *ring) obey(winner election.ID) {
	switch {
	case winner != r.env.ID():
		r.follow(winner)
	case r.role != election.Leader && !r.aside:
		r.lead()
		r.beat()
	}
}

// forward passes a message on when those before it have gone.
func (r *ring) forward(m election.Message) {
	if r.queue = append(r.queue, m); len(r.queue) == 1 {
		r.offer(r.after(r.env.ID()))
	}
}

// after is the node that comes after another in the ring.
func (r *ring) after(id election.ID) election.ID { return id%election.ID(r.env.Size()) + 1 }

// offer asks a node to take the first message over.
func (r *ring) offer(to election.ID) {
	m := r.queue[0]
	if to == r.env.ID() { // all others are dead
		r.home(m)
		return
	}
	r.to = to
	r.env.SetTimer(ackTimer, r.ack)
	r.env.Send(to, m)
}

// skip offers the first message to the node after the one that did not take it.
func (r *ring) skip() {
	if m := r.queue[0]; r.to == m.Node { // the one that sent it round is dead
		r.home(m)
		return
	}
	r.offer(r.after(r.to))
}

// home handles a message that has come round because there is nobody left on its way.
func (r *ring) home(m election.Message) {
	r.know(m.Term) // those that were skipped may only be late, and pass it on yet
	r.next(r.after(r.env.ID()))
	if m.Kind == "ELECTION" {
		r.announce(m)
	}
}

// next goes on with the next message. What waits goes to who took the last one, past those that are dead, for to find that out again
// with each would let more come than can go; but for what one of those has sent round.
func (r *ring) next(to election.ID) {
	r.env.StopTimer(ackTimer)
	if r.queue = r.queue[1:]; len(r.queue) == 0 {
		return
	}
	first := r.after(r.env.ID())
	for dead := first; dead != to; dead = r.after(dead) {
		if dead == r.queue[0].Node {
			to = first
			break
		}
	}
	r.offer(to)
}

// Resign gives up the post, and takes no part in the election of a successor.
func (r *ring) Resign() {
	if r.role == election.Leader {
		r.env.StopTimer(roundTimer) // of the election that it has won
	}
	r.resign()
}
