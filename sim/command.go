package sim

import (
	"time"

	"recount/election"
)

// Command has a node carry out a client's command. done is called once, with an error if it certainly is not carried out;
// or never. No fault is in the way of clients, but a paused node does nothing, and one that dies forgets what it was asked.
func (c *Cluster) Command(node string, cmd election.Command, done func(value uint64, err error)) {
	n := &c.nodes[c.index(node)]
	answer := func(value uint64, err error) {
		c.After(c.way(), func() { done(value, err) })
	}
	c.After(c.way(), func() {
		if !n.runs() {
			answer(0, errDown)
			return
		}
		// As an event of its process it waits with it, and is gone with it.
		e := c.queue.add(c.now)
		e.kind, e.node, e.life, e.fn = hosted, n.index, n.life, func() {
			n.enter()
			err := cmd.Carry(n.impl, func(value uint64) { answer(value, nil) })
			if n.leave(); err != nil {
				answer(0, err)
			}
			n.changed()
		}
	})
}

// way draws how long a client's question or its answer travels.
func (c *Cluster) way() time.Duration { return time.Duration(c.clients.Int64N(int64(clientLatency))) }
