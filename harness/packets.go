package harness

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"recount/election"
	"recount/harness/record"
	"recount/virtual"
)

// packets turns what machines in virtual time send each other into messages. Packets that only confirm what has arrived are none.
type packets struct {
	decoder election.Decoder // nil where the target's folder has none
	keep    func(m *record.Message)
	flows   map[flow]*direction
}

// flow is one direction of a connection.
type flow struct{ from, to netip.AddrPort }

// direction is what is known of a flow.
type direction struct {
	port    int             // of the server
	answers bool            // it comes from the server
	read    election.Reader // nil for bytes that nobody can read
	next    int64           // the number of the first byte that was not sent yet, or that nobody has seen yet
	held    []piece         // what was sent behind it, in order
	ends    []ending        // of messages, the last ones: what is lost is sent again

	fresh  bool   // something was sent since somebody asked for why
	silent int    // bytes since a message ended
	why    string // nothing can be read; "" if something may be
}

// piece is a part of a direction.
type piece struct {
	from int64
	data []byte
}

func (p piece) end() int64 { return p.from + int64(len(p.data)) }

// ending is where a message ends.
type ending struct {
	at   int64 // the number of the byte behind it
	said election.Said
}

const (
	mostEndings = 1024    // messages of a direction that are remembered to be sent again
	mostHeld    = 1 << 20 // bytes of a direction that wait for what was sent before them
	mostSilent  = 1 << 18 // bytes without the end of a message
)

func newPackets(system election.System, keep func(m *record.Message)) *packets {
	p := &packets{keep: keep, flows: map[flow]*direction{}}
	p.decoder, _ = system.(election.Decoder)
	return p
}

// sent takes note of a packet, and returns what takes note of its fate.
func (p *packets) sent(k virtual.Packet) func(virtual.Fate) {
	s := &k.Segment
	var d *direction
	if s.SYN || s.ACK || s.RST { // else it is a datagram
		d = p.direction(s.From, s.To, s.SYN && !s.ACK)
	}
	all := d.messages(k)
	if len(all) == 0 {
		return nil
	}
	return func(f virtual.Fate) {
		for _, m := range all {
			m.Arrived, m.Lost, m.Late = f.At, f.Lost, f.Late
			p.keep(&m)
		}
	}
}

// messages are those that a packet of a direction is made of; of none it is a datagram.
func (d *direction) messages(k virtual.Packet) (all []record.Message) {
	s := &k.Segment
	m := record.Message{From: k.From, To: k.To, Sent: k.Sent, Bytes: int64(len(s.Data))}
	if d == nil {
		m.Port = int(s.To.Port())
		m.Words = fmt.Sprintf("datagram of %d bytes to port %d", m.Bytes, m.Port)
		return []record.Message{m}
	}
	m.Port = d.port
	where := fmt.Sprintf("to port %d", d.port)
	if d.answers {
		where = fmt.Sprintf("from port %d", d.port)
	}
	add := func(kind string, term uint64, words string) {
		m.Kind, m.Term, m.Words = kind, term, words+" "+where
		all = append(all, m)
	}
	switch {
	case s.RST:
		add("reset", 0, "resets a connection")
	case s.SYN && s.ACK:
		add("accept", 0, "accepts a connection")
	case s.SYN:
		add("open", 0, "asks for a connection")
	case len(s.Data) > 0:
		var said []election.Said
		said, m.Again = d.said(s.Seq, s.Data)
		bytes := fmt.Sprintf("%d bytes", m.Bytes)
		if m.Again {
			bytes += ", sent again,"
		}
		for i, one := range said {
			if slices.Contains(said[:i], one) {
				continue
			}
			words := one.Kind
			if one.Term > 0 {
				words += fmt.Sprintf(" term %d", one.Term)
			}
			if n := among(said, one); n > 1 {
				words += fmt.Sprintf(", %d of them", n)
			}
			add(one.Kind, one.Term, words+", in "+bytes)
		}
		if len(said) == 0 {
			add("", 0, bytes)
		}
	}
	if s.FIN {
		m.Bytes = 0
		add("close", 0, "ends a connection")
	}
	return all
}

// among is how many of all are that one.
func among(all []election.Said, one election.Said) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

// direction returns the direction that a segment goes in. With begins it asks for a connection.
func (p *packets) direction(from, to netip.AddrPort, begins bool) *direction {
	if d := p.flows[flow{from, to}]; d != nil && !begins {
		return d
	}
	server := to
	if !begins && from.Port() < to.Port() { // nobody has seen it begin
		server = from
	}
	asks := &direction{port: int(server.Port()), next: 1}
	answers := &direction{port: asks.port, answers: true, next: 1}
	if p.decoder != nil {
		asks.read, answers.read = p.decoder.Decode(asks.port)
	}
	there, back := flow{from, to}, flow{to, from}
	if server == from {
		there, back = back, there
	}
	p.flows[there], p.flows[back] = asks, answers
	return p.flows[flow{from, to}]
}

// said returns the messages that end in a segment, or that can be read now that it is there, and whether all of it was sent before.
func (d *direction) said(from int64, data []byte) (all []election.Said, again bool) {
	d.fresh = d.fresh || len(data) > 0
	to := from + int64(len(data))
	if again = to <= d.next; !again {
		d.take(piece{from, data})
		to = max(to, d.next)
	}
	for _, e := range d.ends {
		if from < e.at && e.at <= to {
			all = append(all, e.said)
		}
	}
	return all, again
}

// take reads a piece of which something is new, and those that have waited for it.
func (d *direction) take(p piece) {
	if d.read == nil {
		d.next = max(d.next, p.end())
		return
	}
	i, _ := slices.BinarySearchFunc(d.held, p.from, func(h piece, at int64) int { return cmp.Compare(h.from, at) })
	d.held = slices.Insert(d.held, i, p)
	for len(d.held) > 0 && d.held[0].from <= d.next {
		first := d.held[0]
		if d.held = slices.Delete(d.held, 0, 1); first.end() > d.next {
			d.feed(first.data[d.next-first.from:])
		}
	}
	waiting := 0
	for _, h := range d.held {
		waiting += len(h.data)
	}
	if waiting > mostHeld {
		d.ignore("packets of it were not copied")
	}
}

// behind reports whether something waits for what was sent before it.
func (d *direction) behind() bool { return len(d.held) > 0 }

// feed reads the next bytes.
func (d *direction) feed(data []byte) {
	if d.next == 1 && len(data) > 2 && data[0] == 22 && data[1] == 3 { // a handshake of any version of TLS
		d.why = "encrypted"
	}
	d.next += int64(len(data))
	d.silent += len(data)
	for _, s := range d.read(data) {
		d.ends = append(d.ends, ending{d.next, s})
		d.silent = 0
	}
	d.ends = slices.Delete(d.ends, 0, max(0, len(d.ends)-mostEndings))
	if d.silent > mostSilent && d.why == "" {
		d.why = "nothing that its decoder knows"
	}
}

// ignore gives up reading.
func (d *direction) ignore(why string) { d.read, d.held, d.why = nil, nil, why }
