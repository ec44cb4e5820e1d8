package virtual

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"recount/virtual/tcp"
)

// firstClientPort is where the ports of clients begin: above those that a node's programs get.
const firstClientPort = 61000

// conn is a client's connection to a node, from within the node's own machine: no fault is in its way. Its methods are
// those of a net.Conn, for any goroutine in the bubble; what tcp.Owner says is called on the loop.
type conn struct {
	k    *clients
	node *node
	tcp  *tcp.Conn // the loop's
	to   netip.AddrPort
	from netip.AddrPort

	mu      sync.Mutex
	up      bool
	in      bytes.Buffer
	over    bool // no more will come
	err     error
	closed  bool
	readBy  time.Time
	writeBy time.Time
	changed chan struct{} // closed with the next change of any of this
}

var errClosed = errors.New("the run is over")

// Dial opens a connection to a port of the node. It is called in the bubble, within a function given to Do.
func (c *Cluster) Dial(ctx context.Context, name string, port int) (net.Conn, error) {
	n := c.named(name)
	if n == nil {
		return nil, fmt.Errorf("dial %s:%d: no such node", name, port)
	}
	k := &conn{k: c.clients, node: n, changed: make(chan struct{})}
	k.k.say(n.index, func() { k.connect(uint16(port)) })
	for {
		k.mu.Lock()
		up, err, changed := k.up, k.err, k.changed
		k.mu.Unlock()
		if up {
			return k, nil
		}
		if err == nil {
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				err = ctx.Err()
			case <-k.k.gone: // also of who tries again, as HTTP does, since another connection has ended
				err = errClosed
			}
			k.Close()
		}
		return nil, fmt.Errorf("dial %s:%d: %w", name, port, err)
	}
}

// connect begins to make the connection.
func (c *conn) connect(port uint16) {
	k := c.k
	if c.node.off {
		c.tell(func() { c.fail(os.NewSyscallError("connect", syscall.ECONNREFUSED)) })
		return
	}
	local := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if !c.node.tcp.Listens(netip.AddrPortFrom(local, port)) { // it may listen on its other address only
		local = c.node.addr
	}
	c.to = netip.AddrPortFrom(local, port)
	for tries := 1 + math.MaxUint16 - firstClientPort; c.tcp == nil; tries-- { // as many ports as there are: some may be in use
		if tries == 0 {
			c.tell(func() { c.fail(os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)) })
			return
		}
		if k.ports++; k.ports < firstClientPort {
			k.ports = firstClientPort
		}
		c.from = netip.AddrPortFrom(local, k.ports)
		c.tcp = c.node.tcp.Connect(c, 0, c.from, c.to)
	}
	k.open[c] = true
}

// tell has f called in the bubble, at this instant.
func (c *conn) tell(f func()) {
	c.k.stimuli = append(c.k.stimuli, f)
	c.k.c.After(0, func() {})
}

// change makes a change, and wakes who waits for one. It is called in the bubble.
func (c *conn) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *conn) fail(err error) {
	c.change(func() {
		if c.err == nil {
			c.err = err
		}
	})
}

// wait waits for a change, or until then.
func (c *conn) wait(changed chan struct{}, until time.Time) {
	if until.IsZero() {
		<-changed
		return
	}
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-changed:
	case <-t.C:
	}
}

func past(t time.Time) bool { return !t.IsZero() && !time.Now().Before(t) }

func (c *conn) Read(p []byte) (int, error) {
	for {
		c.mu.Lock()
		n, err := 0, error(nil)
		switch {
		case c.closed:
			err = net.ErrClosed
		case past(c.readBy):
			err = os.ErrDeadlineExceeded
		case c.in.Len() > 0:
			n, _ = c.in.Read(p)
		case c.over: // also where what was written since was answered by a reset
			err = io.EOF
		case c.err != nil:
			err = &net.OpError{Op: "read", Net: "tcp", Addr: c.RemoteAddr(), Err: c.err}
		}
		changed, by := c.changed, c.readBy
		c.mu.Unlock()
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
		c.wait(changed, by)
	}
}

func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return 0, net.ErrClosed
	case past(c.writeBy):
		return 0, os.ErrDeadlineExceeded
	case c.err != nil:
		return 0, &net.OpError{Op: "write", Net: "tcp", Addr: c.RemoteAddr(), Err: c.err}
	}
	p = bytes.Clone(p)
	c.k.say(c.node.index, func() {
		if c.tcp != nil {
			c.tcp.Write(p)
		}
	})
	return len(p), nil
}

func (c *conn) Close() error {
	again := false
	c.change(func() { again, c.closed = c.closed, true })
	if again {
		return net.ErrClosed
	}
	c.k.say(c.node.index, func() {
		if c.tcp != nil {
			c.tcp.Close()
		}
		delete(c.k.open, c)
	})
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return net.TCPAddrFromAddrPort(c.from) }
func (c *conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.to) }

func (c *conn) SetDeadline(t time.Time) error {
	c.change(func() { c.readBy, c.writeBy = t, t })
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.change(func() { c.readBy = t })
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.change(func() { c.writeBy = t })
	return nil
}

// What follows is tcp.Owner.

func (c *conn) Accepted(*tcp.Listener, *tcp.Conn) {}
func (c *conn) Acked(*tcp.Conn, int)              {}

func (c *conn) Connected(*tcp.Conn) { c.tell(func() { c.change(func() { c.up = true }) }) }
func (c *conn) Ended(*tcp.Conn)     { c.tell(func() { c.change(func() { c.over = true }) }) }

func (c *conn) Arrived(t *tcp.Conn, p []byte) {
	t.Read(len(p)) // it has room for all
	c.tell(func() { c.change(func() { c.in.Write(p) }) })
}

func (c *conn) Failed(_ *tcp.Conn, err syscall.Errno) {
	delete(c.k.open, c)
	call := "read"
	if !c.up {
		call = "connect"
	}
	c.tell(func() { c.fail(os.NewSyscallError(call, err)) })
}
