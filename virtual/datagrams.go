package virtual

import (
	"net/netip"
	"syscall"
	"time"

	"recount/sim/links"
	"recount/virtual/tcp"
	"recount/virtual/wire"
)

// headers is what a datagram has besides its data: those of IP and UDP.
const headers = 28

// bind is a socket that takes datagrams.
type bind struct {
	p  *proc
	id uint32
}

// hear has a process handed a datagram when it goes on. What its socket has room for is for its kernel to say, which drops the rest
// then; of what is more than any socket has nothing is kept until then.
func (b bind) hear(from netip.AddrPort, body []byte) {
	room := wire.MaxReceiveRoom
	for _, m := range b.p.inbox {
		if m.Type == wire.Datagram && m.Socket == b.id {
			room -= wire.Taken(len(m.Data) - wire.AddrSize)
		}
	}
	if room >= wire.Taken(len(body)) {
		b.p.tell(wire.Datagram, b.id, append(wire.AppendAddr(nil, wired(from)), body...))
	}
}

// datagram sends one from a socket.
func (p *proc) datagram(id uint32, data []byte) {
	from, bound := p.bound[id]
	if !bound {
		return
	}
	a, body := wire.CutAddr(data)
	to := address(a)
	body = append([]byte(nil), body...)
	n := p.node
	source := netip.AddrPortFrom(n.addr, from.Port())
	if to.Addr().IsLoopback() {
		source = netip.AddrPortFrom(to.Addr(), from.Port())
	}
	n.carry(tcp.Segment{From: source, To: to, Data: body}, headers+len(body), func(peer *node, _ bool) { // a reset is nothing to datagrams
		if b, ok := peer.binds[to.Port()]; ok {
			peer.received(source.Addr())
			b.hear(source, body)
		} else {
			peer.refuse(n, source, to)
		}
	})
}

// refuse has a machine's kernel say by ICMP that nobody takes what was sent from there to here. Its links are no connection's: faults of
// ports let it through.
func (n *node) refuse(from *node, source, to netip.AddrPort) {
	told := func(*node, bool) {
		if b, ok := from.binds[source.Port()]; ok {
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
