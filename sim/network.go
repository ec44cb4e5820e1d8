package sim

import (
	"fmt"
	"time"

	"recount/election"
	"recount/history"
	"recount/sim/links"
)

// packet is a message as the model of links sees it: all that nodes send each other comes from and goes to the one port of
// the config, so nobody notices what state other ports are in.
func (c *Cluster) packet(from, to int32, size int) links.Packet {
	return links.Packet{From: from, To: to, SourcePort: c.port, Port: c.port, Size: size}
}

// unfelt says why nobody would notice changes of links: all of those that make one ill are of ports that nodes do not speak over.
func (c *Cluster) unfelt(all []history.Link) error {
	other := 0
	if c.port == 0 { // nobody has said which is theirs
		return nil
	}
	for _, l := range all {
		switch {
		case l.LinkState == history.LinkState{}:
		case l.Port == 0 || l.Port == c.port:
			return nil
		default:
			other = l.Port
		}
	}
	if other == 0 {
		return nil
	}
	return fmt.Errorf("nothing is sent over port %d: simulated nodes speak over port %d alone", other, c.port)
}

// setLink brings a link, or a port of it, into a state.
func (c *Cluster) setLink(l history.Link) {
	p := c.packet(c.index(l.From), c.index(l.To), 0)
	was := c.links.State(p).Reset
	c.links.Set(l)
	if !was && c.links.State(p).Reset {
		c.lose(p.From, p.To)
	}
}

// lose takes from a link what is on its way. Nodes speak in datagrams, which know of no connection: to have all that is
// in flight lost is what a reset is to them.
func (c *Cluster) lose(from, to int32) {
	for e := range c.queue.entries() {
		if ev := &c.queue.slab[e.slot]; ev.kind == deliver && ev.node == to && ev.from == c.nodes[from].id {
			ev.kind = lost
		}
	}
}

// send has a message leave a node.
func (c *Cluster) send(from, to int32, m election.Message) {
	c.sent(from, to, &m)
	if len(c.traps) > 0 && c.catch(from, to, &m) {
		return
	}
	c.transmit(from, to, c.now, &m)
}

// transmit puts a message on the wire, now or after it was held.
func (c *Cluster) transmit(from, to int32, sent time.Duration, m *election.Message) {
	a := c.links.Send(c.now, c.packet(from, to, size(m)))
	late := time.Duration(0)
	if s := c.spoiled; s != nil && s.is(from, to, sent, m) {
		c.spoiled = nil
		if late = s.late; late == 0 {
			return
		}
	}
	if a.N == 0 {
		c.tell(c.nodes[from].id, to, sent, c.linkIs(c.packet(from, to, 0)), m)
	}
	for _, at := range a.At[:a.N] {
		c.put(at+late, sent, from, to, m)
		c.holds(from, to, sent, at+late)
	}
}

// put lets a message arrive at a time.
func (c *Cluster) put(at, sent time.Duration, from, to int32, m *election.Message) {
	e := c.queue.add(at)
	e.kind, e.node, e.from, e.sent, e.msg = deliver, to, c.nodes[from].id, sent, *m
}

// size is about how many bytes a message has as an IP packet: 28 of them are headers, numbers are short, and so are the
// lengths of what has one.
func size(m *election.Message) int { return 28 + 8 + len(m.Kind) + len(m.List) + len(m.Data) }
