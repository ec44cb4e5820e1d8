package overlay_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/virtual/process"
	"recount/virtual/wire"
)

// The least controller there can be: links that deliver everything in order after a fixed time.

const (
	epoch   = int64(1_767_225_600_000_000_000) // 2026-01-01
	latency = int64(300 * time.Microsecond)
)

type cluster struct {
	t     testing.TB
	now   int64
	nodes []*node
	queue []event
	seq   int
	log   hash.Hash // of all messages
	trace io.Writer
}

type event struct {
	at  int64
	seq int
	do  func()
}

type node struct {
	c       *cluster
	name    string
	ip      [4]byte
	p       *process.Process
	opts    process.Options
	up      bool
	ended   *os.ProcessState
	next    int64
	inbox   []wire.Message
	disk    process.Disk
	wall    int64
	listens map[uint16]uint32
	binds   map[uint16]uint32
	ports   map[uint32]uint16 // of bound sockets
	ends    map[uint32]*end
	lastID  uint32
	out     map[uint32]string // what it wrote to standard output and error
	refused []string
	changes []wire.Change
	options map[uint32]int64
	hash    uint64
	events  uint64
	err     error
	reports int
}

// end is one end of a connection.
type end struct {
	n    *node
	id   uint32
	peer *end
	last int64 // when the last of what it sent arrives
}

func newCluster(t testing.TB) *cluster {
	return &cluster{t: t, now: epoch, log: sha256.New()}
}

// add starts a node; it comes to life as the cluster runs.
func (c *cluster) add(o process.Options) *node {
	n := &node{c: c, name: fmt.Sprintf("n%d", len(c.nodes)+1), ip: [4]byte{10, 9, 0, byte(len(c.nodes) + 1)}}
	o.Host, o.IP = n.name, n.ip
	if o.Root == "" {
		o.Root = c.t.TempDir()
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	o.Seed += uint64(len(c.nodes)) * 1000
	o.Names = map[string][4]byte{"n1": {10, 9, 0, 1}, "n2": {10, 9, 0, 2}, "n3": {10, 9, 0, 3}}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	n.opts = o
	c.nodes = append(c.nodes, n)
	n.start()
	return n
}

func (n *node) start() {
	n.opts.Start = n.c.now
	p, err := process.Start(n.opts)
	require.NoError(n.c.t, err)
	n.c.t.Cleanup(func() { p.Kill() })
	n.p, n.up, n.ended, n.next, n.inbox = p, true, nil, n.c.now, nil
	n.listens, n.binds, n.ports, n.ends = map[uint16]uint32{}, map[uint16]uint32{}, map[uint32]uint16{}, map[uint32]*end{}
	n.out, n.options, n.lastID = map[uint32]string{}, map[uint32]int64{}, wire.FirstAccepted
}

func (n *node) kill() {
	n.p.Kill()
	n.down()
}

func (n *node) down() {
	n.up = false
	ids := []uint32{}
	for id := range n.ends {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		n.ends[id].send(wire.Fin, nil)
	}
}

func (c *cluster) at(t int64, do func()) {
	c.seq++
	c.queue = append(c.queue, event{t, c.seq, do})
}

func (n *node) deliver(typ, socket uint32, data []byte) {
	if n.up {
		n.inbox = append(n.inbox, wire.Message{Type: typ, Socket: socket, At: n.c.now, Data: slices.Clone(data)})
	}
}

func (c *cluster) find(ip [4]byte, from *node) *node {
	for _, n := range c.nodes {
		if ip[0] == 127 && n == from || n.ip == ip {
			return n
		}
	}
	return nil
}

// run runs the cluster for so long, or until nobody is left.
func (c *cluster) run(d time.Duration) {
	for until := c.now + int64(d); ; {
		next := until
		for _, e := range c.queue {
			next = min(next, e.at)
		}
		for _, n := range c.nodes {
			if n.up && n.next > 0 {
				next = min(next, max(n.next, c.now))
			}
		}
		if next >= until {
			c.now = until
			return
		}
		c.now = next
		for {
			i := -1
			for j, e := range c.queue {
				if e.at <= c.now && (i < 0 || e.at < c.queue[i].at || e.at == c.queue[i].at && e.seq < c.queue[i].seq) {
					i = j
				}
			}
			if i < 0 {
				break
			}
			e := c.queue[i]
			c.queue = slices.Delete(c.queue, i, i+1)
			e.do()
		}
		for _, n := range c.nodes {
			if n.up && (len(n.inbox) > 0 || n.next > 0 && n.next <= c.now) {
				n.step()
			}
		}
	}
}

func (n *node) step() {
	g := process.Grant{Floor: n.c.now, Horizon: n.c.now + 1, Wall: n.wall, Disk: n.disk, Messages: n.inbox}
	n.inbox, n.disk.Die = nil, 0
	r, err := n.p.Run(g)
	n.reports++
	if err != nil {
		n.err, n.up = err, false
		return
	}
	n.next, n.hash, n.events = r.Next, r.Hash, r.Events
	for _, m := range r.Messages {
		fmt.Fprintf(n.c.log, "%s %d %c %d %x\n", n.name, m.At-epoch, rune(m.Type), m.Socket, m.Data)
		if n.c.trace != nil {
			fmt.Fprintf(n.c.trace, "%s %d %c %x %.60q\n", n.name, m.At-epoch, rune(m.Type), m.Socket, m.Data)
		}
		n.take(m)
	}
	if r.Ended != nil {
		n.ended = r.Ended
		n.down()
	}
}

func (n *node) take(m wire.Message) {
	c, e := n.c, n.ends[m.Socket]
	switch m.Type {
	case wire.Output:
		n.out[wire.Get32(m.Data)] += string(m.Data[4:])
	case wire.Refused:
		n.refused = append(n.refused, string(m.Data))
	case wire.File:
		f, ok := wire.ParseChange(slices.Clone(m.Data))
		require.True(c.t, ok)
		n.changes = append(n.changes, f)
	case wire.Option:
		n.options[wire.Get32(m.Data)] = int64(wire.Get64(m.Data[4:]))
	case wire.Listen:
		a, _ := wire.CutAddr(m.Data)
		n.listens[a.Port] = m.Socket
	case wire.Bind:
		a, _ := wire.CutAddr(m.Data)
		n.binds[a.Port], n.ports[m.Socket] = m.Socket, a.Port
	case wire.Accept:
		require.NotNil(c.t, e, "it is a connection that was taken")
	case wire.Datagram:
		to, data := wire.CutAddr(m.Data)
		from := wire.Addr{IP: n.ip, Port: n.ports[m.Socket]}
		if to.IP[0] == 127 {
			from.IP = to.IP
		}
		data = append(wire.AppendAddr(wire.AppendAddr(nil, from), to), data...)
		if o := c.find(to.IP, n); o != nil {
			c.at(c.now+latency, func() {
				if id, ok := o.binds[to.Port]; ok {
					o.deliver(wire.Datagram, id, data)
				}
			})
		}
	case wire.Connect:
		to, rest := wire.CutAddr(m.Data)
		from, _ := wire.CutAddr(rest)
		e := &end{n: n, id: m.Socket}
		n.ends[e.id] = e
		o := c.find(to.IP, n)
		c.at(c.now+latency, func() {
			listener, ok := uint32(0), false
			if o == nil {
				return
			}
			if o.up {
				listener, ok = o.listens[to.Port]
			}
			if !ok {
				c.at(c.now+latency, func() { n.deliver(wire.Failed, e.id, wire.Put32(nil, uint32(syscall.ECONNREFUSED))) })
				return
			}
			o.lastID++
			p := &end{n: o, id: o.lastID, peer: e}
			e.peer, o.ends[p.id] = p, p
			o.deliver(wire.Accepted, listener, wire.AppendAddr(wire.AppendAddr(wire.Put32(nil, p.id), from), to))
			c.at(c.now+latency, func() { n.deliver(wire.Connected, e.id, nil) })
		})
	case wire.Data:
		if e != nil {
			e.send(wire.Data, m.Data)
			k := uint32(len(m.Data))
			c.at(c.now+2*latency, func() {
				if n.ends[e.id] == e {
					n.deliver(wire.Acked, e.id, wire.Put32(nil, k))
				}
			})
		}
	case wire.Fin:
		if e != nil {
			e.send(wire.Fin, nil)
		}
	case wire.Close, wire.Reset:
		if e != nil {
			if m.Type == wire.Close {
				e.send(wire.Fin, nil)
			} else {
				e.send(wire.Failed, wire.Put32(nil, uint32(syscall.ECONNRESET)))
			}
			delete(n.ends, e.id)
			return
		}
		for port, id := range n.listens {
			if id == m.Socket {
				delete(n.listens, port)
			}
		}
		delete(n.binds, n.ports[m.Socket])
	case wire.Consumed:
	default:
		c.t.Fatalf("%s sent %q", n.name, rune(m.Type))
	}
}

func (e *end) send(typ uint32, data []byte) {
	p := e.peer
	if p == nil {
		return
	}
	data = slices.Clone(data)
	e.last = max(e.last, e.n.c.now+latency)
	e.n.c.at(e.last, func() {
		if p.n.ends[p.id] == p {
			p.n.deliver(typ, p.id, data)
		}
	})
}

// sum tells a run from others: all messages, and all scheduler events of all nodes.
func (c *cluster) sum() string {
	for _, n := range c.nodes {
		fmt.Fprintf(c.log, "%s %x %d\n", n.name, n.hash, n.events)
	}
	return hex.EncodeToString(c.log.Sum(nil)[:8])
}

func (n *node) stdout() string { return n.out[1] }
