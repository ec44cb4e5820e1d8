package tcp

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"syscall"
)

// Host is the kernel of one machine. It outlives the processes that have connections.
type Host struct {
	net       Network
	conns     map[ends]*Conn
	listeners map[netip.AddrPort][]*Listener
	secret    uint64
	made      int // counts connections, to have an order among them
}

// ends are the two ends of a connection, as one of its hosts sees it.
type ends struct{ local, remote netip.AddrPort }

// Listener takes connections to one port, at one address or, if that is 0.0.0.0, at all of the host's; or a share of them.
type Listener struct {
	ID      uint32 // is the owner's
	At      netip.AddrPort
	shared  bool
	host    *Host
	owner   Owner
	backlog int
	waiting int // connections made, or being made, and not taken by the program yet
}

// NewHost returns a machine without connections. Which of several listeners a connection goes to follows from its ends and the secret.
func NewHost(n Network, secret uint64) *Host {
	return &Host{net: n, conns: map[ends]*Conn{}, listeners: map[netip.AddrPort][]*Listener{}, secret: secret}
}

// Listen begins to take connections to a port, or returns nil if somebody else does already, unless both share it: then each takes a share.
// No more than backlog of them wait to be taken: see Conn.Taken.
func (h *Host) Listen(o Owner, id uint32, at netip.AddrPort, backlog int, shared bool) *Listener {
	for _, l := range h.listeners[at] {
		if !shared || !l.shared {
			return nil
		}
	}
	l := &Listener{ID: id, At: at, shared: shared, host: h, owner: o, backlog: max(backlog, 1)}
	h.listeners[at] = append(h.listeners[at], l)
	return l
}

// Listening returns the ports on which somebody listens, in their order, and those of them on which he does so at the loopback alone.
func (h *Host) Listening() (ports, alone []int) {
	open := map[int]bool{} // to others
	for at := range h.listeners {
		port := int(at.Port())
		open[port] = open[port] || !at.Addr().IsLoopback()
	}
	for _, port := range slices.Sorted(maps.Keys(open)) {
		if ports = append(ports, port); !open[port] {
			alone = append(alone, port)
		}
	}
	return ports, alone
}

// Listens tells whether somebody takes connections to an address.
func (h *Host) Listens(at netip.AddrPort) bool { return len(h.listening(at)) > 0 }

// listening are those that take connections to an address, each a share: those that named it, or if there are none, those of any address.
func (h *Host) listening(at netip.AddrPort) []*Listener {
	if l := h.listeners[at]; len(l) > 0 {
		return l
	}
	return h.listeners[netip.AddrPortFrom(netip.IPv4Unspecified(), at.Port())]
}

// Share is which of n that share an address is given what comes from there: by its ends alone, as a kernel has it, so that a
// connection always has the same.
func Share(secret uint64, from, to netip.AddrPort, n int) int {
	for _, end := range []netip.AddrPort{from, to} {
		b := end.Addr().As4()
		secret ^= uint64(b[0])<<40 | uint64(b[1])<<32 | uint64(b[2])<<24 | uint64(b[3])<<16 | uint64(end.Port())
		secret *= 0x9e3779b97f4a7c15
		secret ^= secret >> 29
	}
	return int(secret >> 32 * uint64(n) >> 32)
}

// Close takes no more connections. Those that were never taken are reset by the program's side.
func (l *Listener) Close() {
	rest := slices.DeleteFunc(l.host.listeners[l.At], func(o *Listener) bool { return o == l })
	if l.host.listeners[l.At] = rest; len(rest) == 0 {
		delete(l.host.listeners, l.At)
	}
}

// open tells whether it is not closed.
func (l *Listener) open() bool { return slices.Contains(l.host.listeners[l.At], l) }

// Connect begins to make a connection. It returns nil where there is one already with the same ends.
func (h *Host) Connect(o Owner, id uint32, local, remote netip.AddrPort) *Conn {
	if old := h.conns[ends{local, remote}]; old != nil {
		if !old.closed {
			return nil
		}
		old.Abort() // of a process that has ended, for instance
	}
	c := h.newConn(o, id, local, remote)
	c.state = synSent
	c.sendSYN()
	return c
}

func (h *Host) newConn(o Owner, id uint32, local, remote netip.AddrPort) *Conn {
	h.made++
	c := &Conn{ID: id, host: h, owner: o, ends: ends{local, remote}, number: h.made, first: 1, rto: firstRTO, room: window, peerRoom: window}
	c.retry.net, c.retry.f = h.net, c.late
	c.idle.net, c.idle.f = h.net, c.silent
	h.conns[c.ends] = c
	return c
}

// Receive handles a segment that has arrived.
func (h *Host) Receive(s Segment) {
	if c := h.conns[ends{s.To, s.From}]; c != nil {
		c.receive(s)
		return
	}
	if s.RST {
		return
	}
	all := h.listening(s.To)
	if !s.SYN || s.ACK || len(all) == 0 {
		h.refuse(s)
		return
	}
	l := all[Share(h.secret, s.From, s.To, len(all))]
	if l.waiting >= l.backlog {
		return // it is tried again
	}
	l.waiting++
	c := h.newConn(l.owner, 0, s.To, s.From)
	c.state, c.listener, c.arrived = synReceived, l, 1
	c.sendSYN()
}

// refuse answers a segment that belongs to no connection.
func (h *Host) refuse(s Segment) { h.net.Carry(Reset(s)) }

// Reset is the answer to a segment that nobody wants: of a host that has no such connection, or of a packet filter.
func Reset(s Segment) Segment {
	return Segment{From: s.To, To: s.From, RST: true, ACK: true, Seq: s.Ack, Ack: s.Seq + int64(len(s.Data))}
}

// Ended closes what a process had, as a kernel does when it has ended.
func (h *Host) Ended(o Owner) {
	for at, all := range h.listeners {
		h.listeners[at] = slices.DeleteFunc(all, func(l *Listener) bool { return l.owner == o })
		if len(h.listeners[at]) == 0 {
			delete(h.listeners, at)
		}
	}
	for _, c := range h.all() {
		switch {
		case c.owner != o:
		case c.unread > 0 || c.untaken:
			c.Abort()
		default:
			c.Close()
		}
	}
}

// Crash forgets everything, and nobody is told.
func (h *Host) Crash() {
	for _, c := range h.all() {
		c.forget()
	}
	clear(h.listeners)
}

// all returns the connections in the order in which they were made.
func (h *Host) all() []*Conn {
	all := make([]*Conn, 0, len(h.conns))
	for _, c := range h.conns {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *Conn) int { return cmp.Compare(a.number, b.number) })
	return all
}

// orphan has no owner.
type orphan struct{}

func (orphan) Accepted(*Listener, *Conn)   {}
func (orphan) Connected(*Conn)             {}
func (orphan) Arrived(*Conn, []byte)       {}
func (orphan) Ended(*Conn)                 {}
func (orphan) Acked(*Conn, int)            {}
func (orphan) Failed(*Conn, syscall.Errno) {}
