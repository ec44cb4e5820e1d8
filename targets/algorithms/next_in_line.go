package algorithms

import (
	"recount/election"
	"recount/history"
	"recount/targets"
)

func init() {
	targets.Register(&targets.Target{
		Name:  "next-in-line",
		About: "bully whose leader publishes who is to succeed it: who misses the leader asks the next in line first",
		Source: `Petrov, Database Internals, chapter 10, "Next-In-Line Failover"; Gholipour, Kordafshari, Jahanshahi and ` +
			`Rahmani, "A New Approach in the Election Algorithm for Distributed Systems" (2009)`,
		NoTerms:  true,
		Options:  append(bullyOptions(), bullyPatience),
		Promises: bullyPromises,
		Bounds: func(o targets.Options) history.Bounds { // a whole line of dead successors, and then an election as bully's
			return postBounds(o, 4*(targets.Scaled(o, "answer")+targets.Scaled(o, "victory")))
		},
		Node: func(o targets.Options, env election.Env) election.Node {
			n := &nextInLine{bully: newBully(o, env, targets.Scaled(o, "victory")), answered: newContacts(env.Size())}
			n.answered.reset(never)
			return n
		},
	})
}

// nextInLine is a bully that seldom needs an election. The leader's heartbeats carry the line of its successors: who
// has answered the last heartbeats, highest first. Who finds the leader silent asks them in turn to take over (NEXT,
// naming the leader that is missing), and one that is alive does so without asking anybody; the finder itself does if
// it is next. When the line is at its end, the rest is bully's.
type nextInLine struct {
	*bully
	line     []election.ID // as the last leader published it
	missing  election.ID   // the leader that is to be succeeded
	turn     int           // how many of the line were asked in vain
	answered contacts      // as a leader: when each member last answered
}

const nextAsked = electionHeld + 1 // the next in line was asked to take over

// Expire handles what bully does not: heartbeats with the line, and the way along it.
func (n *nextInLine) Expire(t election.Timer) {
	switch t {
	case beatTimer:
		n.beat()
	case silenceTimer:
		n.succeed()
	case nextAsked:
		n.ask()
	default:
		n.bully.Expire(t)
	}
}

// Receive handles what bully does not.
func (n *nextInLine) Receive(from election.ID, m election.Message) {
	switch {
	case m.Kind == "NEXT":
		switch n.leader {
		case n.env.ID():
			n.env.Send(from, n.heartbeat())
		case m.Node, election.None:
			n.announce()
		}
	case m.Kind == "ALIVE":
		n.answered[from] = n.env.Now()
	case m.Kind == "RESIGN" && n.leader == from:
		n.succeed()
	case m.Kind != "RESIGN":
		n.bully.Receive(from, m)
	}
	if n.role != election.Candidate {
		n.env.StopTimer(nextAsked)
	}
	if m.Kind == "HEARTBEAT" && n.leader == from {
		n.line = m.List
		n.env.Send(from, election.Message{Kind: "ALIVE"})
	}
}

// beat sends a heartbeat with the line of successors.
func (n *nextInLine) beat() {
	n.env.SetTimer(beatTimer, n.interval)
	m := n.heartbeat()
	since := n.env.Now() - n.detector.Patience()
	for id := election.ID(n.env.Size()); id > election.None; id-- {
		if id != n.env.ID() && n.answered[id] > since {
			m.List = append(m.List, id)
		}
	}
	broadcast(n.env, m)
}

// succeed looks for a successor of the leader that is missing, beginning at the head of its line.
func (n *nextInLine) succeed() {
	n.missing, n.turn = n.leader, 0
	n.leave(election.Candidate)
	n.told = false
	n.ask()
}

// ask asks the next in line to take over. If it is dead, it is the next one's turn when answers are overdue.
func (n *nextInLine) ask() {
	if n.turn == len(n.line) {
		n.elect()
		return
	}
	next := n.line[n.turn]
	n.turn++
	if next == n.env.ID() {
		n.announce()
		return
	}
	n.env.SetTimer(nextAsked, n.answer)
	n.env.Send(next, election.Message{Kind: "NEXT", Node: n.missing})
}
