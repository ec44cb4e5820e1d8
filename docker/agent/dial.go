//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"syscall"
	"time"

	"recount/internal/accept"
)

// dialWithin bounds a connection attempt: the harness may have lost its patience long before.
const dialWithin = 30 * time.Second

// dial makes the stream a connection to a port inside a node's network namespace.
func (a *agent) dial(stream net.Conn, to Port) {
	conn, err := a.connect(to)
	if err != nil {
		WriteLine(stream, Dialed{Refused: errors.Is(err, syscall.ECONNREFUSED), Error: err.Error()})
		return
	}
	if err := WriteLine(stream, Dialed{}); err != nil {
		conn.Close()
		return
	}
	join(stream, conn)
}

// connect goes by the loopback address or, where nobody listens there, by one of the node's own: that way is its loopback, too.
func (a *agent) connect(to Port) (net.Conn, error) {
	p, err := a.place(to.Node)
	if err != nil {
		return nil, err
	}
	var conn net.Conn
	d := net.Dialer{Timeout: dialWithin}
	err = p.space.do(func() (err error) {
		conn, err = d.Dial("tcp4", loopback(to.Port))
		for _, addr := range p.addrs {
			if errors.Is(err, syscall.ECONNREFUSED) {
				conn, err = d.Dial("tcp", netip.AddrPortFrom(addr, uint16(to.Port)).String())
			}
		}
		return err
	})
	return conn, err
}

// listen takes connections to a port inside a node's network namespace and hands each to the harness as a new stream.
// It does not need the node's processes, and so outlives them.
func (a *agent) listen(on Port) error {
	p, err := a.place(on.Node)
	if err != nil {
		return err
	}
	var config net.ListenConfig
	config.SetMultipathTCP(false) // a plain socket, as any server's
	var l net.Listener
	err = p.space.do(func() (err error) {
		l, err = config.Listen(context.Background(), "tcp4", loopback(on.Port))
		return err
	})
	if err != nil {
		return err
	}
	go a.accept(l, on)
	return nil
}

// accept takes connections until the listener is closed.
func (a *agent) accept(l net.Listener, on Port) {
	_ = accept.Each(l, func(conn net.Conn) { go a.hand(conn, on) }, func(err error) {
		fmt.Fprintf(os.Stderr, "agent: %s: accept: %v\n", on.Node, err)
	})
}

func (a *agent) hand(conn net.Conn, on Port) {
	stream, err := a.session.OpenStream()
	if err != nil {
		conn.Close() // the harness is gone
		return
	}
	if err := WriteLine(stream, Opening{Accepted: &on}); err != nil {
		stream.Close()
		conn.Close()
		return
	}
	join(stream, conn)
}

// join copies both ways until either end closes, then closes both.
func join(a, b net.Conn) {
	done := make(chan struct{}, 2)
	pump := func(to, from net.Conn) {
		io.Copy(to, from)
		done <- struct{}{}
	}
	go pump(a, b)
	go pump(b, a)
	<-done
	for _, c := range []net.Conn{a, b} {
		c.Close()
		c.SetReadDeadline(time.Now()) // a closed stream would still wait for the other side to close
	}
	<-done
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
