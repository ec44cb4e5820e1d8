package sim

import (
	"time"

	"recount/election"
)

// command is a client's command under way, or one that was: there are so many that the next takes its place. One that a node dies over
// is not answered, and none takes its place.
type command struct {
	c     *Cluster
	n     *node
	cmd   election.Command
	done  func(value uint64, err error)
	turn  int // counts the answers: who answers twice finds another one
	value uint64
	err   error

	arrive, carry, reply func() // its own methods
}

// Command has a node carry out a client's command. done is called once, with an error if it certainly is not carried out;
// or never. No fault is in the way of clients, but a paused node does nothing, and one that dies forgets what it was asked.
func (c *Cluster) Command(node string, cmd election.Command, done func(value uint64, err error)) {
	var q *command
	if k := len(c.answered) - 1; k >= 0 {
		q, c.answered = c.answered[k], c.answered[:k]
	} else {
		q = &command{c: c}
		q.arrive, q.carry, q.reply = q.arrived, q.carried, q.replied
	}
	q.n, q.cmd, q.done = &c.nodes[c.index(node)], cmd, done
	c.After(c.way(), q.arrive)
}

func (q *command) arrived() {
	if !q.n.runs() {
		q.answer(q.turn, 0, errDown)
		return
	}
	// As an event of its process it waits with it, and is gone with it.
	e := q.c.queue.add(q.c.now)
	e.kind, e.node, e.life, e.fn = hosted, q.n.index, q.n.life, q.carry
}

func (q *command) carried() {
	n, turn := q.n, q.turn
	n.enter()
	err := q.cmd.Carry(n.impl, func(value uint64) { q.answer(turn, value, nil) })
	if n.leave(); err != nil {
		q.answer(turn, 0, err)
	}
	n.changed()
}

func (q *command) answer(turn int, value uint64, err error) {
	if turn != q.turn {
		return
	}
	q.turn++
	q.value, q.err = value, err
	q.c.After(q.c.way(), q.reply)
}

func (q *command) replied() {
	done, value, err := q.done, q.value, q.err
	q.done, q.err = nil, nil
	q.c.answered = append(q.c.answered, q)
	done(value, err)
}

// way draws how long a client's question or its answer travels.
func (c *Cluster) way() time.Duration { return time.Duration(c.clients.Int64N(int64(clientLatency))) }
