//go:build linux

package agent

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

const tcpPatience = 3 * time.Second

var errConnects = errors.New("resets connections, yet one was made")

// refused finds out whether connections are refused on a link: nil if they are, errConnects if one was made. With a port it
// is the one that they go to.
func refused(from, to *place, family int, port uint16) error {
	addr := netip.AddrPortFrom(to.addrs[family], port)
	var l net.Listener
	err := to.space.do(func() (err error) {
		l, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(addr))
		return err
	})
	switch {
	case err == nil:
		defer l.Close()
		addr = l.Addr().(*net.TCPAddr).AddrPort()
	case port == 0:
		return err
	} // else the node itself listens there
	var conn net.Conn
	d := net.Dialer{Timeout: tcpPatience}
	err = from.space.do(func() (err error) {
		conn, err = d.Dial("tcp", addr.String())
		return err
	})
	switch {
	case err == nil:
		conn.Close()
		return errConnects
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET):
		return nil
	}
	return err
}
