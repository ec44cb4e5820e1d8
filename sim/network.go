package sim

import (
	"time"

	"recount/election"
	"recount/history"
)

// wire is what the messages from one node to another pass.
type wire struct {
	ill               bool          // they suffer something
	free              time.Duration // when a link of limited rate has sent all that it was given
	history.LinkState               // what they suffer now
}

// way names a link, or one port of it, as Apply is told of it.
type way struct {
	from, to int32
	port     int
}

func (c *Cluster) link(from, to int32) *wire { return &c.links[int(from)*len(c.nodes)+int(to)] }

// setLink changes what a link, or one of its ports, is to be like. All that nodes send each other here comes from and
// goes to the one port of the config: other ports may be in any state, and nobody notices.
func (c *Cluster) setLink(w way, s history.LinkState) {
	if s == (history.LinkState{}) {
		delete(c.asked, w)
	} else {
		c.asked[w] = s
	}
	l := c.link(w.from, w.to)
	was := l.Reset
	l.LinkState = c.asked[way{w.from, w.to, 0}]
	if c.port != 0 {
		l.LinkState = l.And(c.asked[way{w.from, w.to, c.port}])
	}
	l.ill = l.LinkState != history.LinkState{}
	if l.Reset && !was {
		c.lose(w.from, w.to)
	}
}

// lose takes from a link what is on its way. Nodes speak in datagrams, which know of no connection: to have all that is
// in flight lost is what a reset is to them.
func (c *Cluster) lose(from, to int32) {
	for _, e := range c.queue.heap {
		if ev := &c.queue.slab[e.slot]; ev.kind == deliver && ev.node == to && ev.from == c.nodes[from].id {
			ev.kind = lost
		}
	}
}

// send puts a message on the wire. Loss, delay and the like are drawn now; whether the link is cut is looked at when
// the message arrives, as a packet filter at the receiver does.
func (c *Cluster) send(from, to int32, m election.Message) {
	l := c.link(from, to)
	if !l.ill {
		c.put(c.now+c.travel(), from, to, &m)
		return
	}
	at := c.now
	if l.Rate > 0 {
		if at = max(at, l.free); at-c.now > history.Buffer {
			return
		}
		at += time.Duration(float64(8*size(&m)) / float64(l.Rate) * float64(time.Second))
		l.free = at
	}
	copies := 1
	if l.Loss > 0 && c.network.Float64() < l.Loss {
		copies--
	}
	if l.Duplicate > 0 && c.network.Float64() < l.Duplicate {
		copies++
	}
	for range copies {
		c.put(at+c.delayed(&l.LinkState), from, to, &m)
	}
}

// put lets a message arrive at a time.
func (c *Cluster) put(at time.Duration, from, to int32, m *election.Message) {
	e := c.queue.add(at)
	e.kind, e.node, e.from, e.msg = deliver, to, c.nodes[from].id, *m
}

// travel draws how long one packet travels over a healthy link.
func (c *Cluster) travel() time.Duration {
	return c.latencyMin + time.Duration(c.network.Int64N(int64(c.latencyMax-c.latencyMin)+1))
}

// delayed draws how long one packet travels over a link that may delay it.
func (c *Cluster) delayed(l *history.LinkState) time.Duration {
	d := c.travel()
	if l.Reorder > 0 && c.network.Float64() < l.Reorder {
		return d
	}
	d += l.Delay
	if l.Jitter > 0 {
		d += time.Duration(c.network.Int64N(2*int64(l.Jitter)+1)) - l.Jitter
	}
	return max(d, 0)
}

// size is about how many bytes a message has as an IP packet: 28 of them are headers, numbers are short, and so are the
// lengths of what has one.
func size(m *election.Message) int { return 28 + 8 + len(m.Kind) + len(m.List) + len(m.Data) }
