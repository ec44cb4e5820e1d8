// Package links is the model of links between nodes that simulated clusters share: what becomes of a packet on a link
// that is cut (one way or both), loses, delays, duplicates, reorders, limits or resets. It decides when packets arrive
// and draws chances from the stream it is given; carrying them is for the cluster.
//
// A cluster asks three things of it: Set when a fault changes a link, Send when a packet leaves, and Passes when it would
// arrive, for a cut stops what is in flight, as a packet filter at the receiver does.
package links

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"recount/history"
)

// Config describes the links of a cluster while they are healthy.
type Config struct {
	Nodes []string // packets name nodes by their place in it
	// LatencyMin and LatencyMax bound how long a packet travels over a healthy link.
	LatencyMin, LatencyMax time.Duration
	Rand                   *rand.Rand // what all chances are drawn from
}

// Links is the state of all links of a cluster, each direction by itself. It is not safe for concurrent use.
type Links struct {
	config Config
	wires  []wire // from × nodes + to
}

// wire is one direction between two nodes.
type wire struct {
	limited
	ports []port // those in a state of their own, in order of their numbers
	ill   bool   // the wire or a port of it is in any state but the healthy one
}

// port is what packets from or to one port of a wire suffer besides.
type port struct {
	number int
	limited
}

// limited is a state, and when its limit on the rate lets the next packet pass.
type limited struct {
	history.LinkState
	free time.Duration
}

// Packet is what is sent from one node to another.
type Packet struct {
	From, To int32 // as places in Config.Nodes
	// SourcePort and Port are the TCP or UDP ports that it comes from and goes to, 0 where there are none.
	SourcePort, Port int
	Size             int // in bytes, headers included
}

// Arrivals says when a packet arrives: not at all, once, or twice.
type Arrivals struct {
	N  int // how many of At count
	At [2]time.Duration
}

// New returns links that are all healthy.
func New(c Config) *Links {
	return &Links{config: c, wires: make([]wire, len(c.Nodes)*len(c.Nodes))}
}

// Check tells whether a link can be brought into a state: nil, or what is wrong with it.
func (l *Links) Check(link history.Link) error {
	if l.index(link.From) < 0 || l.index(link.To) < 0 || link.From == link.To {
		return fmt.Errorf("no link %s→%s", link.From, link.To)
	}
	if link.Port < 0 || link.Port > 65535 {
		return fmt.Errorf("link %s→%s: no port %d", link.From, link.To, link.Port)
	}
	return nil
}

// Set brings a link, or one port of it, into a state. The link must have passed Check.
func (l *Links) Set(link history.Link) {
	w := l.wire(int32(l.index(link.From)), int32(l.index(link.To)))
	if link.Port == 0 {
		w.LinkState = link.LinkState
	} else {
		i, has := slices.BinarySearchFunc(w.ports, link.Port, func(p port, n int) int { return cmp.Compare(p.number, n) })
		switch healthy := link.LinkState == (history.LinkState{}); {
		case has && healthy:
			w.ports = slices.Delete(w.ports, i, i+1)
		case has:
			w.ports[i].LinkState = link.LinkState
		case !healthy:
			w.ports = slices.Insert(w.ports, i, port{link.Port, limited{LinkState: link.LinkState}})
		}
	}
	w.ill = len(w.ports) > 0 || w.LinkState != (history.LinkState{})
}

// State returns what such a packet suffers now: from its link, and from those of its ports that have a state of their own.
// Its Reset is for the cluster to carry out: TCP connections are answered by resets, and what is in flight when a reset
// begins is lost.
func (l *Links) State(p Packet) history.LinkState {
	w := l.wire(p.From, p.To)
	s := w.LinkState
	for i := range w.ports {
		if w.ports[i].concerns(p) {
			s = s.And(w.ports[i].LinkState)
		}
	}
	return s
}

func (p *port) concerns(k Packet) bool { return p.number == k.Port || p.number == k.SourcePort }

// Send has a packet leave now and draws when it arrives. That it is cut off shows only on arrival: see Passes.
func (l *Links) Send(now time.Duration, p Packet) (a Arrivals) {
	w := l.wire(p.From, p.To)
	if !w.ill {
		a.N, a.At[0] = 1, now+l.travel()
		return a
	}
	s := l.State(p)
	leaves, room := w.leave(now, now, p.Size)
	for i := range w.ports {
		if room && w.ports[i].concerns(p) {
			leaves, room = w.ports[i].leave(now, leaves, p.Size)
		}
	}
	if !room {
		return a
	}
	a.N = 1
	if s.Loss > 0 && l.config.Rand.Float64() < s.Loss {
		a.N--
	}
	if s.Duplicate > 0 && l.config.Rand.Float64() < s.Duplicate {
		a.N++
	}
	for i := range a.N {
		a.At[i] = leaves + l.travel() + s.Late(l.config.Rand)
	}
	return a
}

// Passes reports whether such a packet gets through when it would arrive: whether its link is not cut by then.
func (l *Links) Passes(p Packet) bool {
	w := l.wire(p.From, p.To)
	return !w.ill || !l.State(p).Cut
}

// leave returns when a packet that is ready has left, after all that came before it, and whether there is room for it: one
// that would have to wait for longer than the buffer holds is lost.
func (m *limited) leave(now, ready time.Duration, size int) (leaves time.Duration, room bool) {
	if m.Rate <= 0 {
		return ready, true
	}
	begins := max(ready, m.free)
	if begins-now > history.Buffer {
		return 0, false
	}
	m.free = begins + time.Duration(float64(8*size)/float64(m.Rate)*float64(time.Second))
	return m.free, true
}

// travel draws how long one packet travels over a healthy link.
func (l *Links) travel() time.Duration {
	return l.config.LatencyMin + time.Duration(l.config.Rand.Int64N(int64(l.config.LatencyMax-l.config.LatencyMin)+1))
}

// All returns the links and ports that are not healthy, by the places of their nodes and the numbers of ports.
func (l *Links) All() (all []history.Link) {
	n := len(l.config.Nodes)
	for i := range l.wires {
		w, from, to := &l.wires[i], l.config.Nodes[i/n], l.config.Nodes[i%n]
		if w.LinkState != (history.LinkState{}) {
			all = append(all, history.Link{From: from, To: to, LinkState: w.LinkState})
		}
		for _, p := range w.ports {
			all = append(all, history.Link{From: from, To: to, Port: p.number, LinkState: p.LinkState})
		}
	}
	return all
}

func (l *Links) wire(from, to int32) *wire { return &l.wires[int(from)*len(l.config.Nodes)+int(to)] }

// index returns the place of a named node, or -1.
func (l *Links) index(name string) int { return slices.Index(l.config.Nodes, name) }

// Ill reports whether a link is in any state but the healthy one.
func (l *Links) Ill(from, to int32) bool { return l.wire(from, to).ill }
