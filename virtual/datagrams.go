package virtual

import (
	"net/netip"

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
		}
	})
}

// address and wired turn the addresses of package wire into the standard library's, and back.
func address(a wire.Addr) netip.AddrPort { return netip.AddrPortFrom(netip.AddrFrom4(a.IP), a.Port) }

func wired(a netip.AddrPort) wire.Addr { return wire.Addr{IP: a.Addr().As4(), Port: a.Port()} }
