package sim

import (
	"time"

	"recount/election"
	"recount/history"
)

// Carried is a message and what became of it.
type Carried struct {
	From, To      string
	Sent, Arrived time.Duration // since the run began; of a lost one Arrived is when it was
	Lost          string        // why it was: what the link was then; "" if it reached the process
	Message       election.Message
}

// OnMessage calls f with every message once it is known what becomes of it. It changes nothing: the run is the same, event for event.
func (c *Cluster) OnMessage(f func(Carried)) { c.carried = f }

// tell tells who listens what became of a message.
func (c *Cluster) tell(from election.ID, to int32, sent time.Duration, lost string, m *election.Message) {
	if c.carried != nil {
		c.carried(Carried{c.nodes[from-1].name, c.nodes[to].name, sent, c.now, lost, *m})
	}
}

// fate is why a message that has arrived at a machine does not reach the process there; "" if it does.
func (n *node) fate() string {
	switch n.state {
	case history.Up:
		return ""
	case history.Paused, history.Frozen:
		return "" // it waits until the process goes on
	}
	return n.name + " is " + string(n.state)
}
