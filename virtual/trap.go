package virtual

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"recount/history"
	"recount/virtual/tcp"
	"recount/virtual/wire"
)

// What messages mean nobody knows here: a message is a packet that carries data to another machine. What a process does to the world
// comes to the cluster one thing after the other, though the process has done more by then: what a trap cuts off is as if never done.

// trap is a history.Trap that waits in the cluster, and what has come of it. None draws anything at random: a run in which it does not
// spring is the same without it.
type trap struct {
	history.LaidTrap
	held []*flow
}

// flow is a packet that waits, and behind it all that is sent later over the same connection: TCP has an order.
type flow struct {
	from, to *node
	ends     [2]netip.AddrPort
	ordered  bool // a connection, not a datagram
	since    time.Duration
	term     uint64   // of its receiver as it was last seen, when it was sent
	pass     []func() // let the packets go on
}

// OnSprung calls f whenever a trap springs: with its number, what it caught in words, and what has become of processes by it.
func (c *Cluster) OnSprung(f func(id int, what string, did history.Changes)) { c.sprung = f }

// canTrap tells whether a trap can be laid.
func (c *Cluster) canTrap(t history.Trap) error {
	if t.Do == history.Finish && !c.config.Disks {
		return fmt.Errorf("%s cannot end in the middle of what it does: what it synced is not kept track of in this run", t.Node)
	}
	return t.Blind()
}

// setTrap lays a trap, or takes it away: what it holds goes on its way.
func (c *Cluster) setTrap(t history.Trap) {
	if i := slices.IndexFunc(c.traps, func(o *trap) bool { return o.Key() == t.Key() }); i >= 0 {
		old := c.traps[i]
		c.traps = slices.Delete(slices.Clone(c.traps), i, i+1)
		old.release(c, func(*flow) bool { return true })
		for _, n := range c.nodes {
			if n.doomed == old && !n.torn {
				n.doomed = nil
			}
		}
	}
	if t.TrapState != (history.TrapState{}) {
		c.traps = append(slices.Clone(c.traps), &trap{LaidTrap: history.LaidTrap{Trap: t}})
	}
}

// catch lets the traps have a packet that leaves a machine, and reports whether it goes no further for now.
func (c *Cluster) catch(from, to *node, s tcp.Segment, pass func()) bool {
	ends, ordered := [2]netip.AddrPort{s.From, s.To}, s.SYN || s.ACK || s.RST
	for _, t := range c.traps {
		i := slices.IndexFunc(t.held, func(f *flow) bool { return f.ordered && ordered && f.ends == ends })
		if i >= 0 {
			t.held[i].pass = append(t.held[i].pass, pass)
			return true
		}
	}
	for _, t := range c.traps {
		if t.Do != history.Hold || t.Node != from.name || len(s.Data) == 0 || !t.Counts(to.name) {
			continue
		}
		t.held = append(t.held, &flow{from, to, ends, ordered, c.now, to.seen.Term, []func(){pass}})
		if d, timed := t.Wait(); timed {
			c.After(d, func() { t.release(c, func(f *flow) bool { return c.now-f.since >= d }) })
		}
		what := "datagram"
		if ordered {
			what = fmt.Sprintf("connection of port %d from byte %d on", min(s.From.Port(), s.To.Port()), s.Seq)
		}
		c.sprung(t.ID, fmt.Sprintf("%s %s→%s held", what, from.name, to.name), history.Changes{})
		return true
	}
	return false
}

// release lets go of what is held and has waited for long enough, when all is on the wire that is sent at this moment.
func (t *trap) release(c *Cluster, which func(f *flow) bool) {
	t.held = slices.DeleteFunc(t.held, func(f *flow) bool {
		if !which(f) {
			return false
		}
		for _, pass := range f.pass {
			c.After(0, pass)
		}
		return true
	})
}

// Seen tells what a node was seen to be, and lets go of what waits for that.
func (c *Cluster) Seen(node string, now history.View) {
	n := c.named(node)
	was := n.seen
	n.seen = now
	for _, t := range c.traps {
		t.release(c, func(f *flow) bool { return t.Comes(f.to == n, f.term, was, now) })
	}
}

// started lets go of what waits for a node to start again.
func (c *Cluster) started(n *node) {
	for _, t := range c.traps {
		if t.Until == history.UntilStart {
			t.release(c, func(f *flow) bool { return f.to == n })
		}
	}
}

// springOn looks for traps that wait for the node to be handed a packet of another, or to have sent it one.
func (n *node) springOn(on history.TrapOn, other *node) {
	if n.doomed != nil || other == nil || other == n {
		return
	}
	for _, t := range n.c.traps {
		if t.Do == history.Finish && t.On == on && t.Node == n.name && t.Counts(other.name) {
			n.doomed, n.left = t, t.Effect
			if n.left == 0 {
				n.tear()
			}
			return
		}
	}
}

// received is called with the address that bytes have come from to one of the node's processes.
func (n *node) received(from netip.Addr) {
	if len(n.c.traps) > 0 {
		n.springOn(history.Receives, n.c.at(from))
	}
}

// trapped carries out one thing that the process did, unless a trap has ended it before.
func (p *proc) trapped(m wire.Message) {
	n := p.node
	to := p.receivers(m)
	effect := slices.ContainsFunc(to, func(o *node) bool { return o != n }) || m.Type == wire.File && lasting(m.Data)
	if effect && n.doomed != nil && !n.torn {
		if n.left--; n.left < 0 {
			n.tear()
		}
	}
	if n.torn {
		return
	}
	p.did(m)
	for _, o := range to {
		n.springOn(history.Sends, o)
	}
}

// receivers are the nodes that the process sends data to.
func (p *proc) receivers(m wire.Message) []*node {
	n := p.node
	var to netip.Addr
	switch m.Type {
	case wire.Data:
		if c := p.conns[m.Socket]; c != nil {
			to = c.Remote().Addr()
		}
	case wire.Datagram:
		a, _ := wire.CutAddr(m.Data)
		if a.ToGroup() || a.ToAll(n.addr.As4()) {
			return n.c.nodes
		}
		to = address(a).Addr()
	}
	if !to.IsValid() {
		return nil
	}
	if peer := n.c.at(to); peer != nil {
		return []*node{peer}
	}
	return nil
}

// tear has nothing more come of the node's processes, and ends them at this instant.
func (n *node) tear() {
	n.torn = true
	life := n.life
	n.c.After(0, func() {
		if n.life == life && n.runs() {
			n.finish(n.doomed)
		}
	})
}

// finish ends the node's processes, which a trap has ended in the middle of what they did.
func (n *node) finish(t *trap) {
	state := history.Down
	if t.Crash {
		state = history.Crashed
	}
	err := n.fall(state, func() {})
	if err == nil && !t.Crash { // they may have done more than came of it
		err = errors.Join(n.mirror.Reread(n.root), n.mirror.Put(n.root))
	}
	if err != nil {
		n.c.lose(err)
	}
	n.c.sprung(t.ID, fmt.Sprintf("%s ends after %d of what it did on %s", n.name, t.Effect, t.On),
		history.Changes{Procs: []history.Proc{{Node: n.name, State: state}}})
}
