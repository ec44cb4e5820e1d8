package virtual

import (
	"net/netip"
	"slices"
	"syscall"
	"time"

	"recount/sim/links"
	"recount/virtual/tcp"
	"recount/virtual/wire"
)

// headers is what a datagram has besides its data: those of IP and UDP.
const headers = 28

// bind is a socket of datagrams.
type bind struct {
	p      *proc
	id     uint32
	local  netip.AddrPort // its address may be any of the machine's; without a port it hears nothing yet
	remote netip.AddrPort // that it hears alone, if it has a port
	is     uint32         // wire.Shared and the like
	groups []group
}

// group is one of multicast, at an interface of a machine.
type group struct {
	addr  netip.Addr
	iface uint32
}

// socket is one of the process' sockets of datagrams, of which it has told something.
func (p *proc) socket(id uint32) *bind {
	b := p.binds[id]
	if b == nil {
		b = &bind{p: p, id: id}
		p.binds[id] = b
	}
	return b
}

// bind has a socket hear what is sent to its address, and to it alone if it says so.
func (b *bind) bind(data []byte) {
	local, data := wire.CutAddr(data)
	remote, data := wire.CutAddr(data)
	n := b.p.node
	if b.local.Port() == 0 {
		n.binds[local.Port] = append(n.binds[local.Port], b)
	}
	b.local, b.remote, b.is = address(local), address(remote), wire.Get32(data)
}

// join has a socket hear a group, or not any more.
func (b *bind) join(data []byte, joins bool) {
	g := group{netip.AddrFrom4([4]byte(data)), wire.Get32(data[4:])}
	if joins {
		b.groups = append(b.groups, g)
	} else {
		b.groups = slices.DeleteFunc(b.groups, func(o group) bool { return o == g })
	}
}

// unbind forgets a socket.
func (b *bind) unbind() {
	delete(b.p.binds, b.id)
	n, port := b.p.node, b.local.Port()
	n.binds[port] = slices.DeleteFunc(n.binds[port], func(o *bind) bool { return o == b })
	if len(n.binds[port]) == 0 {
		delete(n.binds, port)
	}
}

// fits tells how well a socket fits a datagram, by its addresses: the kernel gives it to one that fits best. It is below 0 if it does not.
func (b *bind) fits(from, to netip.AddrPort) int {
	fits := 0
	if !b.local.Addr().IsUnspecified() {
		if b.local.Addr() != to.Addr() {
			return -1
		}
		fits++
	}
	if b.remote.Port() != 0 {
		if b.remote != from {
			return -1
		}
		fits++
	}
	return fits
}

// hears is the socket that a datagram is for, or nil: of several that fit it alike one by the ends if they share their port, and otherwise
// that which was bound last.
func (n *node) hears(from, to netip.AddrPort) *bind {
	best, most := []*bind(nil), 0
	for _, b := range n.binds[to.Port()] {
		switch fits := b.fits(from, to); {
		case fits > most:
			best, most = []*bind{b}, fits
		case fits == most:
			best = append(best, b)
		}
	}
	switch k := len(best); {
	case k == 0:
		return nil
	case best[k-1].is&wire.Shared != 0 && best[k-1].remote.Port() == 0:
		return best[tcp.Share(n.secret, from, to, k)]
	default:
		return best[k-1]
	}
}

// joined tells whether any socket of the machine has joined a group.
func (n *node) joined(g group) bool {
	for _, p := range n.procs {
		for _, b := range p.binds {
			if slices.Contains(b.groups, g) {
				return true
			}
		}
	}
	return false
}

// hear has a process handed a datagram when it goes on. What its socket has room for is for its kernel to say, which drops the rest
// then; of what is more than any socket has nothing is kept until then.
func (b *bind) hear(from, to netip.AddrPort, body []byte) {
	room := wire.MaxReceiveRoom
	for _, m := range b.p.inbox {
		if m.Type == wire.Datagram && m.Socket == b.id {
			room -= wire.Taken(len(m.Data) - 2*wire.AddrSize)
		}
	}
	if room >= wire.Taken(len(body)) {
		b.p.tell(wire.Datagram, b.id, append(wire.AppendAddr(wire.AppendAddr(nil, wired(from)), wired(to)), body...))
	}
}

// datagram sends one from a socket.
func (p *proc) datagram(id uint32, data []byte) {
	b := p.binds[id]
	if b == nil {
		return
	}
	a, body := wire.CutAddr(data)
	n, to := p.node, address(a)
	body = append([]byte(nil), body...)
	from := netip.AddrPortFrom(n.addr, b.local.Port())
	switch own := b.local.Addr(); {
	case own == n.addr || own.IsLoopback():
		from = b.local
	case to.Addr().IsLoopback() || a.ToGroup() && b.is&wire.Within != 0:
		from = netip.AddrPortFrom(localhost, from.Port())
	}
	switch {
	case a.ToGroup() || a.ToAll(n.addr.As4()):
		n.toMany(b, tcp.Segment{From: from, To: to, Data: body}, a.ToGroup())
		return
	case to == nameServer:
		n.resolve(from, body)
		return
	}
	n.carry(tcp.Segment{From: from, To: to, Data: body}, headers+len(body), func(peer *node, _ bool) { // a reset is nothing to datagrams
		if b := peer.hears(from, to); b != nil {
			peer.received(from.Addr())
			b.hear(from, to, body)
		} else {
			peer.refuse(n, from, to)
		}
	})
}

// localhost is a machine's own address on lo.
var localhost = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// toMany sends a datagram from a socket to a group, or to all machines: each hears it that has joined the group, this one too.
func (n *node) toMany(b *bind, s tcp.Segment, toGroup bool) {
	iface := uint32(wire.Eth0)
	if toGroup && b.is&wire.Within != 0 {
		iface = wire.Lo
	}
	arrive := func(peer *node, _ bool) {
		if toGroup && !peer.joined(group{s.To.Addr(), iface}) {
			return
		}
		for _, b := range peer.binds[s.To.Port()] {
			own := slices.Contains(b.groups, group{s.To.Addr(), iface})
			if b.fits(s.From, s.To) >= 0 && (!toGroup || own || b.is&wire.Choosy == 0) {
				peer.received(s.From.Addr())
				b.hear(s.From, s.To, s.Data)
			}
		}
	}
	if !toGroup || b.is&wire.Unheard == 0 || iface == wire.Lo { // what leaves by lo comes back by it
		n.carryTo(n, s, headers+len(s.Data), arrive)
	}
	for _, peer := range n.c.nodes {
		if peer != n && iface == wire.Eth0 && (!toGroup || b.is&wire.Near == 0) {
			n.carryTo(peer, s, headers+len(s.Data), arrive)
		}
	}
}

// refuse has a machine's kernel say by ICMP that nobody takes what was sent from there to here. Its links are no connection's: faults of
// ports let it through.
func (n *node) refuse(from *node, source, to netip.AddrPort) {
	told := func(*node, bool) {
		if b := from.hears(to, source); b != nil {
			b.p.tell(wire.Failed, b.id, wire.AppendAddr(wire.Put32(nil, uint32(syscall.ECONNREFUSED)), wired(to)))
		}
	}
	switch {
	case n == from:
		told(n, false)
	case n.mayRefuse(from):
		n.c.pass(links.Packet{From: int32(n.index), To: int32(from.index), Size: 2 * headers}, from, true, func(string) {}, told)
	}
}

// refusals is how often a machine may still refuse what another one sends, as of a time.
type refusals struct {
	at     time.Duration
	credit time.Duration
}

// mayRefuse says whether it may now: net.ipv4.icmp_ratelimit is one a second, after six at once.
func (n *node) mayRefuse(from *node) bool {
	const every, most = time.Second, 6 * time.Second
	r, met := n.refused[from]
	if !met {
		r.credit = most
	}
	r.at, r.credit = n.c.now, min(r.credit+n.c.now-r.at, most)
	may := r.credit >= every
	if may {
		r.credit -= every
	}
	n.refused[from] = r
	return may
}

// address and wired turn the addresses of package wire into the standard library's, and back.
func address(a wire.Addr) netip.AddrPort { return netip.AddrPortFrom(netip.AddrFrom4(a.IP), a.Port) }

func wired(a netip.AddrPort) wire.Addr { return wire.Addr{IP: a.Addr().As4(), Port: a.Port()} }
