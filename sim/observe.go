package sim

import (
	"time"

	"recount/history"
)

// question is an Observe under way.
type question struct {
	done func(history.View, error)
	view history.View
	err  error
}

// clientLatency is how long a client's question or the answer travels, at most. No fault is in its way.
const clientLatency = time.Millisecond

// Observe asks a node for its view. A paused node answers once it runs again; a dead one refuses.
func (c *Cluster) Observe(node string, done func(history.View, error)) {
	var q int32
	if k := len(c.unasked); k > 0 {
		q, c.unasked = c.unasked[k-1], c.unasked[:k-1]
	} else {
		q = int32(len(c.asks))
		c.asks = append(c.asks, question{})
	}
	c.asks[q] = question{done: done}
	e := c.queue.add(c.now + time.Duration(c.clients.Int64N(int64(clientLatency))))
	e.kind, e.node, e.ask = ask, c.index(node), q
}

func (c *Cluster) reply(q int32) {
	e := c.queue.add(c.now + time.Duration(c.clients.Int64N(int64(clientLatency))))
	e.kind, e.ask = answer, q
}

func (c *Cluster) forget(q int32) {
	c.asks[q] = question{}
	c.unasked = append(c.unasked, q)
}
