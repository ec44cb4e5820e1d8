package virtual

import (
	"cmp"
	"time"

	"recount/sim/links"
	"recount/virtual/tcp"
)

// Packet is what one machine sends another: a TCP segment, or a datagram, which is neither SYN nor ACK nor RST.
type Packet struct {
	From, To string
	Sent     time.Duration // since the run began
	Segment  tcp.Segment   // its bytes may be kept, and are not to be changed
}

// Fate is what has become of a packet.
type Fate struct {
	At   time.Duration // when it arrived, or was lost
	Lost string        // why it was: what the link was then, or the machine; "" if it arrived
	Late string        // what has held it up: what the link was when it left, or a trap; "" if nothing has
}

// OnPacket calls f with every packet as it leaves, in order, and what f returns, unless that is nil, once it is known what has become
// of it: twice of one that arrives twice. It changes nothing: the run is the same, event for event. It must be called before Launch.
func (c *Cluster) OnPacket(f func(p Packet) (fate func(Fate))) { c.onPacket = f }

// follow says that a packet leaves, and returns what tells whether it was lost, and why.
func (c *Cluster) follow(from, to *node, s tcp.Segment, p links.Packet) (told func(lost string)) {
	held := ""
	if c.links.Ill(p.From, p.To) {
		held = c.mistreated(p)
	}
	sent := c.now
	fate := c.onPacket(Packet{from.name, to.name, sent, s})
	return func(lost string) {
		if fate == nil {
			return
		}
		f := Fate{At: c.now, Lost: lost}
		if lost == "" && c.now-sent > c.config.LatencyMax {
			f.Late = cmp.Or(held, "a trap held it")
		}
		fate(f)
	}
}

// mistreated says what such a packet suffers now.
func (c *Cluster) mistreated(p links.Packet) string { return "the link is " + c.links.State(p).Words() }
