package virtual

import (
	"time"

	"recount/sim/links"
	"recount/virtual/tcp"
)

// Packets between machines pass the links; those of a machine to itself do not.

// Carry brings a segment to the machine that has its address.
func (n *node) Carry(s tcp.Segment) {
	n.carry(s, s.Size(), func(to *node, reset bool) {
		if reset && !s.RST { // resets themselves get through
			to.Carry(tcp.Reset(s))
		} else {
			to.tcp.Receive(s)
		}
	})
}

// Now and After are those of the run.
func (n *node) Now() time.Duration              { return n.c.now }
func (n *node) After(d time.Duration, f func()) { n.c.After(d, f) }

// carry calls arrive as often as a packet of that size arrives, with its receiver, and whether a filter answers it there by a
// reset.
func (n *node) carry(s tcp.Segment, size int, arrive func(to *node, reset bool)) {
	if s.To.Addr().IsLoopback() {
		n.carryTo(n, s, size, arrive)
	} else if peer := n.c.at(s.To.Addr()); peer != nil { // else no machine has that address
		n.carryTo(peer, s, size, arrive)
	}
}

// carryTo carries it to a machine, whatever address it is sent to.
func (n *node) carryTo(peer *node, s tcp.Segment, size int, arrive func(to *node, reset bool)) {
	c := n.c
	if peer == n {
		boot := n.boots
		c.After(loopback, func() {
			if n.boots == boot {
				arrive(n, false)
			}
		})
		return
	}
	p := links.Packet{From: int32(n.index), To: int32(peer.index), SourcePort: int(s.From.Port()), Port: int(s.To.Port()), Size: size}
	told := func(string) {}
	if c.onPacket != nil {
		told = c.follow(n, peer, s, p)
	}
	pass := func() { c.pass(p, peer, s.RST, told, arrive) }
	if len(c.traps) == 0 || !c.catch(n, peer, s, pass) {
		pass()
	}
}

// pass has a packet leave over its link.
func (c *Cluster) pass(p links.Packet, peer *node, resets bool, told func(lost string), arrive func(to *node, reset bool)) {
	a := c.links.Send(c.now, p)
	if a.N == 0 {
		told(c.mistreated(p))
	}
	for _, at := range a.At[:a.N] {
		c.After(at-c.now, func() {
			switch {
			case !c.links.Passes(p):
				told(c.mistreated(p))
			case peer.off:
				told(peer.name + " is " + string(peer.state))
			default:
				reset := c.links.State(p).Reset
				if reset && !resets {
					told(c.mistreated(p))
				} else {
					told("")
				}
				arrive(peer, reset)
			}
		})
	}
}
