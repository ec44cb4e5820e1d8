package virtual

import (
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"

	"recount/virtual/tcp"
)

// nameServer is where a node's /etc/resolv.conf says that names are asked for, as in an engine's networks. It knows the names of the
// nodes, and no others.
var nameServer = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 11}), 53)

// ttl of its answers, in seconds, as an engine has it.
const ttl = 600

// resolve has the name server of a node's machine answer a question, if it is one.
func (n *node) resolve(from netip.AddrPort, query []byte) {
	answer := n.c.answer(query)
	if answer == nil {
		return
	}
	n.carry(tcp.Segment{From: from, To: nameServer, Data: query}, headers+len(query), func(*node, bool) {
		n.carry(tcp.Segment{From: nameServer, To: from, Data: answer}, headers+len(answer), func(*node, bool) {
			if b := n.hears(nameServer, from); b != nil {
				b.hear(nameServer, from, answer)
			}
		})
	})
}

// answer is what the name server says to a question: an address of a node, the name of an address, that there is nothing else of a node, or
// that nobody is called so. It is nil for what is no question.
func (c *Cluster) answer(query []byte) []byte {
	var p dnsmessage.Parser
	h, err := p.Start(query)
	if err != nil || h.Response {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	h = dnsmessage.Header{ID: h.ID, Response: true, OpCode: h.OpCode, RecursionDesired: h.RecursionDesired, RecursionAvailable: true}
	m := dnsmessage.Message{Header: h, Questions: []dnsmessage.Question{q}}
	is := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: dnsmessage.ClassINET, TTL: ttl}
	known := false
	for _, n := range c.nodes {
		switch asked := strings.ToLower(q.Name.String()); {
		case asked == n.name+".":
			if known = true; q.Type == dnsmessage.TypeA {
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: is, Body: &dnsmessage.AResource{A: n.addr.As4()}})
			}
		case asked == reverse(n.addr):
			if known = true; q.Type == dnsmessage.TypePTR {
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: is, Body: &dnsmessage.PTRResource{PTR: dnsmessage.MustNewName(n.name + ".")}})
			}
		}
	}
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	b, err := m.Pack()
	if err != nil {
		return nil
	}
	return b
}

// reverse is the name under which the name of an address is found.
func reverse(a netip.Addr) string {
	b := a.As4()
	return netip.AddrFrom4([4]byte{b[3], b[2], b[1], b[0]}).String() + ".in-addr.arpa."
}
