package virtual

import (
	"net/netip"
	"time"

	"recount/sim/links"
	"recount/virtual/tcp"
)

// Packets between machines pass the links; those of a machine to itself do not.

// Carry brings a segment to the machine that has its address.
func (n *node) Carry(s tcp.Segment) {
	n.carry(s.From, s.To, s.Size(), func(to *node, reset bool) {
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

// carry calls arrive as often as a packet arrives, with its receiver, and whether a filter answers it there by a reset.
func (n *node) carry(from, to netip.AddrPort, size int, arrive func(to *node, reset bool)) {
	c := n.c
	if to.Addr().IsLoopback() || to.Addr() == n.addr {
		boot := n.boots
		c.After(loopback, func() {
			if n.boots == boot {
				arrive(n, false)
			}
		})
		return
	}
	peer := c.at(to.Addr())
	if peer == nil {
		return // no machine has that address
	}
	p := links.Packet{From: int32(n.index), To: int32(peer.index), SourcePort: int(from.Port()), Port: int(to.Port()), Size: size}
	a := c.links.Send(c.now, p)
	for _, at := range a.At[:a.N] {
		c.After(at-c.now, func() {
			if c.links.Passes(p) && !peer.off {
				arrive(peer, c.links.State(p).Reset)
			}
		})
	}
}
