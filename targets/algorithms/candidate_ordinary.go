package algorithms

import (
	"math"
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
)

func init() {
	targets.Register(&targets.Target{
		Name:  "candidate-ordinary",
		About: "only some nodes may lead: whoever misses the leader asks those alone, and announces the highest alive",
		Source: `Petrov, Database Internals, chapter 10, "Candidate/Ordinary Optimization"; Murshed and Allen, "Enhanced ` +
			`Bully Algorithm for Leader Node Election in Synchronous Distributed Systems" (2012)`,
		NoTerms: true,
		Options: append(bullyOptions(),
			targets.Option{
				Name: "candidates", Kind: targets.Number, Default: "0.6",
				About: "share of the nodes that may lead, the highest ids; with half or less a majority may be without any",
			},
			targets.Option{
				Name: "delay", Kind: targets.Duration, Default: "200ms",
				About: "δ: how much longer each next lower node waits before it begins; more than a round trip",
			},
		),
		Promises: bullyPromises,
		Unpromised: func(o targets.Options) []string {
			if o.Number("candidates") <= 0.5 {
				return []string{"elects"}
			}
			return nil
		},
		Bounds: func(o targets.Options) history.Bounds {
			return postBounds(o, 3*targets.Scaled(o, "answer")+50*targets.Scaled(o, "delay"))
		},
		Node: func(o targets.Options, env election.Env) election.Node {
			n := float64(env.Size())
			return &candidateOrdinary{
				post:   newPost(o, env),
				answer: targets.Scaled(o, "answer"),
				delay:  targets.Scaled(o, "delay"),
				lowest: election.ID(n - min(n, math.Ceil(o.Number("candidates")*n)) + 1),
				alive:  make([]bool, env.Size()+1),
			}
		},
	})
}

// candidateOrdinary is a node of the candidate set, the highest ids, or an ordinary one. Any of them may hold an
// election (POLL, ALIVE, COORDINATOR naming the winner); only a candidate can win it. Before it begins, a node waits
// for δ times the number of nodes above it: so the highest that missed the leader begins, and is done before the next
// one would.
type candidateOrdinary struct {
	post
	answer, delay time.Duration
	lowest        election.ID // of the candidates
	missing       election.ID // the leader that was found silent: it is not asked
	alive         []bool      // candidates that have answered, by id
}

const (
	delayTimer = freeTimer     // its turn has come
	answersDue = freeTimer + 1 // who gave none is dead
)

// Start listens for a leader that may be there.
func (c *candidateOrdinary) Start() { c.await() }

// Expire ends a wait.
func (c *candidateOrdinary) Expire(t election.Timer) {
	switch {
	case t == beatTimer:
		c.beat()
	case t == silenceTimer:
		c.missing = c.leader
		c.leave(election.Follower)
		c.env.SetTimer(delayTimer, c.delay*time.Duration(c.env.Size()-int(c.env.ID())+1))
	case t == delayTimer:
		c.poll()
	case c.role == election.Candidate:
		c.decide()
	}
}

// Receive handles a message.
func (c *candidateOrdinary) Receive(from election.ID, m election.Message) {
	switch m.Kind {
	case "POLL":
		if !c.aside {
			c.env.Send(from, election.Message{Kind: "ALIVE"})
		}
	case "ALIVE":
		c.alive[from] = true
		if c.role == election.Candidate && c.heardAll() {
			c.decide()
		}
	case "COORDINATOR":
		if m.Node == c.env.ID() {
			c.take()
		} else {
			c.obey(m.Node)
		}
	case "HEARTBEAT":
		c.obey(from)
	case "RESIGN":
		if c.leader == from {
			c.Expire(silenceTimer)
		}
	}
}

// obey follows a leader, unless a higher one is known.
func (c *candidateOrdinary) obey(leader election.ID) {
	c.hear(leader)
	if c.role == election.Follower && c.leader != election.None {
		c.env.StopTimer(delayTimer)
		c.env.StopTimer(answersDue)
	}
}

// poll asks the candidates who is alive.
func (c *candidateOrdinary) poll() {
	c.leave(election.Candidate)
	clear(c.alive)
	c.env.SetTimer(answersDue, c.answer)
	c.candidates(func(id election.ID) { c.env.Send(id, election.Message{Kind: "POLL"}) })
	if c.heardAll() {
		c.decide()
	}
}

// heardAll reports whether no candidate's answer is missing.
func (c *candidateOrdinary) heardAll() bool {
	all := true
	c.candidates(func(id election.ID) { all = all && c.alive[id] })
	return all
}

// candidates calls f with those that are to be asked: not this node, and not the one that was found silent.
func (c *candidateOrdinary) candidates(f func(election.ID)) {
	for id := c.lowest; int(id) <= c.env.Size(); id++ {
		if id != c.env.ID() && id != c.missing {
			f(id)
		}
	}
}

// decide announces the highest candidate alive. If there is none, it looks again as after a silence.
func (c *candidateOrdinary) decide() {
	winner := election.None
	for id, alive := range c.alive {
		if alive {
			winner = election.ID(id)
		}
	}
	if self := c.env.ID(); self >= c.lowest && self > winner {
		c.take()
		return
	}
	c.missing = election.None
	if winner == election.None {
		c.await()
		return
	}
	c.follow(winner)
	broadcast(c.env, election.Message{Kind: "COORDINATOR", Node: winner})
}

// take takes the post and tells everybody.
func (c *candidateOrdinary) take() {
	if c.role != election.Leader {
		c.env.StopTimer(delayTimer)
		c.lead()
		c.beat()
	}
}

// Resign gives up the post, and lets the next lower candidate have it for a time.
func (c *candidateOrdinary) Resign() { c.resign() }
