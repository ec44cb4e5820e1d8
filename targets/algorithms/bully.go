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
		Name:     "bully",
		About:    "the highest node alive leads: whoever misses the leader asks all higher ones, and silence makes it leader",
		Source:   bullySource + ", section III; Petrov, Database Internals, chapter 10",
		NoTerms:  true,
		Options:  append(bullyOptions(), bullyPatience),
		Promises: bullyPromises,
		Bounds: func(o targets.Options) history.Bounds {
			return postBounds(o, 2*(targets.Scaled(o, "answer")+targets.Scaled(o, "victory")))
		},
		Node: func(o targets.Options, env election.Env) election.Node {
			return newBully(o, env, targets.Scaled(o, "victory"))
		},
	})
}

const bullySource = `Garcia-Molina, "Elections in a Distributed Computing System" (1982)`

// Nothing is promised of two leaders at once: a higher node that returns takes the post before the one that has it can
// know of it, and each part of a split network elects a leader of its own.
var bullyPromises = []targets.Promise{
	{Property: "agreement"},
	{Property: "elects", While: wholeNetwork, Suspended: targets.BreaksLinks},
	{Property: "learns-leader", While: wholeNetwork, Suspended: targets.BreaksLinks},
}

func bullyOptions() []targets.Option {
	return slices.Concat([]targets.Option{targets.Scale("0.1")}, detector.Options("1s", "3"), []targets.Option{{
		Name: "answer", Kind: targets.Duration, Default: "2s", About: "how long answers are waited for: who gave none is dead",
	}})
}

var bullyPatience = targets.Option{
	Name: "victory", Kind: targets.Duration, Default: "4s",
	About: "how long a node that was told to stand down waits for a leader before it begins again",
}

// bully is a node of the Bully algorithm as textbooks have it: ELECTION goes to all higher nodes, one that gets it
// answers OK and holds an election of its own, and one that is not answered tells everybody that it leads, by
// COORDINATOR. A node that starts holds an election, too, and so takes the post if it is the highest.
//
// What the textbooks leave open: a leader sends heartbeats, which count as COORDINATOR sent again to those who missed
// it. A leader that is sent an ELECTION has held its own already and answers with a heartbeat, too.
type bully struct {
	post
	answer  time.Duration
	victory time.Duration // 0 is for ever
	told    bool          // to stand down, in the election that this node holds
	won     func()        // what to do with an election that is won
}

const electionHeld = freeTimer // what the election that this node holds waits for is overdue

func newBully(o targets.Options, env election.Env, victory time.Duration) *bully {
	b := &bully{post: newPost(o, env), answer: targets.Scaled(o, "answer"), victory: victory}
	b.won = b.announce
	return b
}

// Start holds an election: this node may be the highest.
func (b *bully) Start() { b.elect() }

// Expire ends a wait: for the leader's heartbeat, for answers, or for the victory of somebody higher.
func (b *bully) Expire(t election.Timer) {
	switch t {
	case beatTimer:
		b.beat()
	case silenceTimer:
		b.elect()
	case electionHeld:
		switch {
		case b.role != election.Candidate: // somebody else has won it
		case b.told:
			b.elect()
		default:
			b.won()
		}
	}
}

// Receive handles a message.
func (b *bully) Receive(from election.ID, m election.Message) {
	switch m.Kind {
	case "ELECTION":
		b.challenged(from)
	case "OK":
		if b.role == election.Candidate && !b.told {
			b.told = true
			b.env.StopTimer(electionHeld)
			if b.victory > 0 {
				b.env.SetTimer(electionHeld, b.victory)
			}
		}
	case "COORDINATOR", "HEARTBEAT":
		// Who is higher obeys nobody lower: it leads, holds its election, or has somebody to obey that is higher still.
		if from > b.env.ID() || b.role == election.Leader || b.aside {
			b.hear(from)
		}
	case "RESIGN":
		if b.leader == from {
			b.elect()
		}
	}
}

// challenged answers a lower node's election.
func (b *bully) challenged(from election.ID) {
	if b.aside {
		return
	}
	b.env.Send(from, election.Message{Kind: "OK"})
	switch b.role {
	case election.Leader:
		b.env.Send(from, b.heartbeat())
	case election.Follower:
		b.elect()
	}
}

// Resign gives up the post, and lets the next lower one have it for a time.
func (b *bully) Resign() { b.resign() }

// elect asks all higher nodes whether they are there.
func (b *bully) elect() {
	b.leave(election.Candidate)
	b.told = false
	self := b.env.ID()
	if int(self) == b.env.Size() {
		b.won()
		return
	}
	b.env.SetTimer(electionHeld, b.answer)
	for id := self + 1; int(id) <= b.env.Size(); id++ {
		b.env.Send(id, election.Message{Kind: "ELECTION"})
	}
}

// announce takes the post and tells everybody.
func (b *bully) announce() {
	b.lead()
	broadcast(b.env, election.Message{Kind: "COORDINATOR"})
}
