//go:build linux

package agent

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"recount/internal/headers"
)

// What nodes say to each other on some ports is copied by the kernel's own log of packets, as they leave, and behind all faults as they
// arrive. A packet socket would see those that a fault is about to drop.

const (
	logGroup     = 7
	logBytes     = 4 << 20 // of packets on their way from the kernel
	mostCaptured = 8 << 20 // bytes a second, of all nodes together
	mostWaiting  = 16 << 20
	perPacket    = 256 // bytes that a packet counts for besides its own
)

// The kernel's protocol for its log of packets: linux/netfilter/nfnetlink_log.h
const (
	packetMessage, configMessage = unix.NFNL_SUBSYS_ULOG << 8, unix.NFNL_SUBSYS_ULOG<<8 | 1

	cfgCommand, cfgMode, cfgTogether, cfgFlags = 1, 2, 5, 6
	cfgBind, copyPacket, numbered              = 1, 2, 1

	attrHeader, attrPayload, attrNumber = 1, 9, 12

	hookOut = 3 // NF_INET_LOCAL_OUT
)

// capture copies packets to the stream until that ends.
func (a *agent) capture(stream net.Conn, c Capture) {
	t := &taps{queue: make(chan Packet, 4096), end: make(chan struct{})}
	var err error
	for i, name := range c.Nodes { // a packet tells the place in them
		p, here := a.place(name)
		if err = here; err == nil {
			err = t.open(i, p, c.Ports)
		}
		if err != nil {
			err = fmt.Errorf("copy packets of %s: %w", name, err)
			break
		}
	}
	defer t.close()
	answer := Capturing{}
	if err != nil {
		answer.Error = err.Error()
	}
	t.begun = time.Now()
	if WriteLine(stream, answer) != nil || err != nil {
		return
	}
	for _, tap := range t.all {
		go tap.read()
	}
	go func() { // the harness says no more; it hangs up
		stream.Read(make([]byte, 1))
		stream.Close()
		close(t.end)
	}()
	w := bufio.NewWriterSize(stream, 128<<10)
	for {
		var p Packet
		select {
		case p = <-t.queue:
		default:
			if w.Flush() != nil {
				return
			}
			select {
			case p = <-t.queue:
			case <-t.end:
				return
			}
		}
		t.waiting.Add(int64(-len(p.Bytes)))
		if p.write(w) != nil {
			return
		}
	}
}

// taps are all places where packets are copied.
type taps struct {
	begun   time.Time
	all     []*tap
	queue   chan Packet
	waiting atomic.Int64 // bytes in it
	end     chan struct{}

	mu      sync.Mutex // guards what follows: how much a second has brought
	second  int64
	brought int
}

// tap is where the packets of one place are copied.
type tap struct {
	of     *taps
	node   int
	log    *netlink.Conn
	rules  *nftables.Conn
	next   uint32 // the number of the packet that the kernel is to tell of next
	missed int    // packets since the last one that was passed on
}

// open begins to copy the packets of a place.
func (t *taps) open(node int, p *place, ports []int) (err error) {
	one := &tap{of: t, node: node}
	t.all = append(t.all, one)
	if one.log, err = netlink.Dial(unix.NETLINK_NETFILTER, &netlink.Config{NetNS: int(p.space.file.Fd())}); err != nil {
		return err
	}
	if err := one.log.SetReadBuffer(logBytes); err != nil {
		return err
	}
	for _, config := range [][]netlink.Attribute{
		{{Type: cfgCommand, Data: []byte{cfgBind}}},
		{
			{Type: cfgMode, Data: []byte{0, 0, 0xff, 0xff, copyPacket, 0}},   // all of each
			{Type: cfgTogether, Data: binary.BigEndian.AppendUint32(nil, 1)}, // as each comes
			{Type: cfgFlags, Data: binary.BigEndian.AppendUint16(nil, numbered)},
		},
	} {
		attributes, err := netlink.MarshalAttributes(config)
		if err != nil {
			return err
		}
		if _, err := one.log.Execute(netlink.Message{
			Header: netlink.Header{Type: configMessage, Flags: netlink.Request | netlink.Acknowledge},
			Data:   append([]byte{unix.AF_UNSPEC, unix.NFNETLINK_V0, logGroup >> 8, logGroup & 0xff}, attributes...),
		}); err != nil {
			return fmt.Errorf("the kernel's log of packets: %w", err)
		}
	}
	return one.match(p, ports)
}

// match has the kernel tell of packets that have data in them, or begin or end a connection, and are from one of the ports or to it.
func (t *tap) match(p *place, ports []int) (err error) {
	if t.rules, err = nftables.New(nftables.WithNetNSFd(int(p.space.file.Fd())), nftables.AsLasting()); err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	for _, fam := range p.filter.families {
		// Without data a packet is no longer than its headers: in IPv4 they count, in IPv6 that of IP does not.
		at, bare := uint32(2), byte(80)
		if fam.own.Is6() {
			at, bare = 4, 60
		}
		for _, dir := range []struct {
			name string
			hook *nftables.ChainHook
			card expr.MetaKey
			log  expr.Log
		}{
			{"tell-left", nftables.ChainHookOutput, expr.MetaKeyOIFTYPE, expr.Log{Key: 1 << unix.NFTA_LOG_GROUP, Group: logGroup}},
			{"tell-came", nftables.ChainHookInput, expr.MetaKeyIIFTYPE, expr.Log{Key: 1<<unix.NFTA_LOG_GROUP | 1<<unix.NFTA_LOG_SNAPLEN, Group: logGroup, Snaplen: headersMost}},
		} {
			c := t.rules.AddChain(&nftables.Chain{
				Name: dir.name, Table: fam.table, Type: nftables.ChainTypeFilter,
				Hooknum: dir.hook, Priority: nftables.ChainPriorityRef(*nftables.ChainPriorityRaw + 30),
			})
			rule := func(exprs ...expr.Any) { t.rules.AddRule(&nftables.Rule{Table: fam.table, Chain: c, Exprs: exprs}) }
			rule(&expr.Meta{Key: dir.card, Register: 1},
				&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.NativeEndian.PutUint16(unix.ARPHRD_LOOPBACK)},
				&expr.Verdict{Kind: expr.VerdictReturn})
			rule(&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
				&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
				&expr.Verdict{Kind: expr.VerdictReturn})
			rule(&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: at, Len: 2},
				&expr.Cmp{Op: expr.CmpOpLte, Register: 1, Data: []byte{0, bare}},
				&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: headers.Flags, Len: 1},
				&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 1, Mask: []byte{headers.FIN | headers.SYN | headers.RST | headers.PSH}, Xor: []byte{0}},
				&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{0}},
				&expr.Verdict{Kind: expr.VerdictReturn})
			for _, port := range ports {
				for _, end := range []uint32{headers.SourcePort, headers.DestinationPort} {
					rule(&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: end, Len: 2},
						&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binary.BigEndian.AppendUint16(nil, uint16(port))},
						&dir.log, &expr.Verdict{Kind: expr.VerdictReturn})
				}
			}
		}
	}
	if err := t.rules.Flush(); err != nil {
		return fmt.Errorf("nftables: %w", err)
	}
	return nil
}

// headersMost is how long headers are at most.
const headersMost = 120

// close ends all copying. The rules stay until the tables go: nobody listens to them.
func (t *taps) close() {
	for _, one := range t.all {
		if one.log != nil {
			one.log.Close()
		}
		if one.rules != nil {
			one.rules.CloseLasting()
		}
	}
}

// read passes on what the kernel tells until the socket is closed.
func (t *tap) read() {
	raw, err := t.log.SyscallConn()
	if err != nil {
		return
	}
	b := make([]byte, 256<<10)
	for {
		n := 0
		var failed error
		err := raw.Read(func(fd uintptr) bool {
			n, failed = unix.Read(int(fd), b)
			return !errors.Is(failed, unix.EAGAIN)
		})
		switch {
		case err != nil:
			return
		case errors.Is(failed, unix.ENOBUFS), errors.Is(failed, unix.EINTR): // the next packet's number tells how many were lost
		case failed != nil:
			fmt.Fprintln(os.Stderr, "agent: copy packets:", failed)
			return
		}
		t.take(b[:max(0, n)], time.Now())
	}
}

// take passes on the packets of one answer of the kernel's.
func (t *tap) take(b []byte, now time.Time) {
	for len(b) >= unix.SizeofNlMsghdr {
		size := int(binary.NativeEndian.Uint32(b))
		if size < unix.SizeofNlMsghdr || size > len(b) {
			return
		}
		if kind := binary.NativeEndian.Uint16(b[4:]); kind == packetMessage && size >= unix.SizeofNlMsghdr+4 {
			t.packet(b[unix.SizeofNlMsghdr+4:size], now)
		}
		b = b[min(len(b), (size+3)&^3):]
	}
}

// packet passes one on, as its attributes tell it.
func (t *tap) packet(b []byte, now time.Time) {
	p := Packet{Node: t.node, At: now.Sub(t.of.begun)}
	number, known := uint32(0), false
	for len(b) >= 4 {
		size := int(binary.NativeEndian.Uint16(b))
		if size < 4 || size > len(b) {
			break
		}
		value := b[4:size]
		switch kind := binary.NativeEndian.Uint16(b[2:]) &^ uint16(unix.NLA_F_NESTED|unix.NLA_F_NET_BYTEORDER); {
		case kind == attrHeader && len(value) >= 3:
			p.Left = value[2] == hookOut
		case kind == attrNumber && len(value) >= 4:
			number, known = binary.BigEndian.Uint32(value), true
		case kind == attrPayload:
			p.Bytes = value
		}
		b = b[min(len(b), (size+3)&^3):]
	}
	if known {
		t.missed += int(number - t.next)
		t.next = number + 1
	}
	p.Missed = t.missed
	if !t.of.room(len(p.Bytes), now) {
		t.missed++
		return
	}
	p.Bytes = append([]byte(nil), p.Bytes...)
	t.of.waiting.Add(int64(len(p.Bytes)))
	select {
	case t.of.queue <- p:
		t.missed = 0
	case <-t.of.end:
	default:
		t.of.waiting.Add(int64(-len(p.Bytes)))
		t.missed++
	}
}

// room reports whether one more packet may be copied.
func (t *taps) room(size int, now time.Time) bool {
	if t.waiting.Load()+int64(size) > mostWaiting {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := int64(now.Sub(t.begun) / time.Second); s != t.second {
		t.second, t.brought = s, 0
	}
	t.brought += size + perPacket
	return t.brought <= mostCaptured
}
