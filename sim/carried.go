package sim

import (
	"time"

	"recount/election"
	"recount/history"
	"recount/sim/links"
)

// Carried is a message and what became of it.
type Carried struct {
	From, To      string
	Sent, Arrived time.Duration // since the run began; of a lost one Arrived is when it was
	Lost          string        // why it was: what the link was then; "" if it reached the process
	Late          string        // what has held it up: what the link was when it left, or a trap; "" if nothing has
	Message       election.Message
}

// OnMessage calls f with every message once it is known what becomes of it. It changes nothing: the run is the same, event for event.
func (c *Cluster) OnMessage(f func(Carried)) { c.carried = f }

// tell tells who listens what became of a message.
func (c *Cluster) tell(from election.ID, to int32, sent time.Duration, lost string, m *election.Message) {
	if c.carried == nil {
		return
	}
	key := way{from, to, sent, c.now}
	late := c.held[key]
	delete(c.held, key)
	if lost != "" {
		late = ""
	}
	c.outside(func() { c.carried(Carried{c.nodes[from-1].name, c.nodes[to].name, sent, c.now, lost, late, *m}) })
}

// way is how a message that is under way can be told, for those who listen: two that are alike were held up by the same.
type way struct {
	from     election.ID
	to       int32
	sent, at time.Duration
}

// holds takes note, for who listens, of what holds up a message that leaves now and arrives then.
func (c *Cluster) holds(from, to int32, sent, at time.Duration) {
	late := ""
	switch {
	case c.carried == nil:
		return
	case sent < c.now:
		late = "a trap held it"
	case at-c.now > c.latency && c.links.Ill(from, to):
		late = "the link is " + c.links.State(c.packet(from, to, 0)).Words()
	default:
		return
	}
	if c.held == nil {
		c.held = map[way]string{}
	}
	c.held[way{c.nodes[from].id, to, sent, at}] = late
}

// linkIs is what has taken a message, if that was its link, in the words of who listens; "" if nobody does.
func (c *Cluster) linkIs(p links.Packet) string {
	if c.carried == nil {
		return ""
	}
	return "the link is " + c.links.State(p).Words()
}

// fate is why a message that has arrived at a machine does not reach the process there; "" if it does, or nobody listens.
func (n *node) fate() string {
	if n.c.carried == nil {
		return ""
	}
	switch n.state {
	case history.Up:
		return ""
	case history.Paused, history.Frozen:
		return "" // it waits until the process goes on
	}
	return n.name + " is " + string(n.state)
}
