package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// kernelSockets prints what calls of pipes and sockets answer.
func kernelSockets() {
	r, w, err := os.Pipe()
	check(err)
	at, err := r.Stat()
	check(err)
	fd := int(w.Fd())
	size, err := unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0)
	fmt.Println(at.Mode(), size, err)
	check(syscall.SetNonblock(fd, true))
	for _, n := range []int{65000, 600, 4096} { // at once or not at all, up to 4 KB
		n, err := syscall.Write(fd, make([]byte, n))
		fmt.Println(n, err)
	}

	dir, err := os.MkdirTemp("", "sockets")
	check(err)
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	check(err)
	local, err := net.Dial("unix", l.Addr().String())
	check(err)
	with(local.(syscall.Conn), func(fd int) {
		who, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		fmt.Println(err == nil && int(who.Pid) == os.Getpid() && int(who.Uid) == os.Getuid())
	})

	c, peer := connection()
	check(c.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 7 * time.Second, Interval: time.Second, Count: 3}))
	with(c, func(fd int) {
		for _, o := range [][2]int{{unix.SOL_SOCKET, unix.SO_KEEPALIVE}, {unix.IPPROTO_TCP, unix.TCP_NODELAY}, {unix.IPPROTO_TCP, unix.TCP_KEEPIDLE},
			{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT}, {unix.IPPROTO_IP, unix.IP_TTL}} {
			v, err := unix.GetsockoptInt(fd, o[0], o[1])
			fmt.Println(v, err)
		}
	})
	_, err = peer.Write([]byte("hello"))
	check(err)
	time.Sleep(10 * time.Millisecond)
	with(c, func(fd int) {
		for _, flags := range []int{unix.MSG_PEEK, 0} {
			b := make([]byte, 9)
			n, _, err := unix.Recvfrom(fd, b, flags|unix.MSG_DONTWAIT)
			fmt.Printf("%q %v\n", b[:max(n, 0)], err)
		}
	})
	check(peer.Close())
	for range 3 { // the first is answered by a reset, of which the second is told
		time.Sleep(10 * time.Millisecond)
		_, err = c.Write([]byte("x"))
		fmt.Println(errors.Is(err, syscall.EPIPE), err == nil)
	}

	u, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	check(err)
	_, err = u.WriteTo([]byte("0123456789"), u.LocalAddr())
	check(err)
	time.Sleep(10 * time.Millisecond)
	with(u, func(fd int) {
		for _, flags := range []int{unix.MSG_PEEK, 0} {
			n, _, flags, _, err := unix.Recvmsg(fd, make([]byte, 4), nil, flags|unix.MSG_DONTWAIT)
			fmt.Println(n, flags&unix.MSG_TRUNC != 0, err)
		}
	})

	whole, err := net.Listen("tcp4", "127.0.0.1:0")
	check(err)
	file, err := whole.(*net.TCPListener).File() // as who hands it on to the next program does
	check(err)
	again, err := net.FileListener(file)
	check(err)
	for _, closes := range []func() error{func() error { return nil }, whole.Close, file.Close} {
		check(closes())
		c, err := net.Dial("tcp4", again.Addr().String())
		check(err)
		d, err := again.Accept()
		check(err)
		fmt.Println(d.RemoteAddr().String() == c.LocalAddr().String())
		end, err := c.(*net.TCPConn).File()
		check(err)
		check(c.Close()) // it is open as long as its file is
		check(d.SetReadDeadline(time.Now().Add(10 * time.Millisecond)))
		_, err = d.Read(make([]byte, 1))
		fmt.Println(errors.Is(err, os.ErrDeadlineExceeded))
		_, err = end.Write([]byte("last words"))
		check(err)
		check(end.Close())
		check(d.SetReadDeadline(time.Time{}))
		text, err := io.ReadAll(d)
		fmt.Println(string(text), err)
	}
	check(again.Close())
	_, err = net.Dial("tcp4", again.Addr().String())
	fmt.Println(errors.Is(err, syscall.ECONNREFUSED))

	full, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	check(err)
	check(unix.Bind(full, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	check(unix.Listen(full, 2))
	sa, err := unix.Getsockname(full)
	check(err)
	made := 0
	for range 5 {
		if _, err := net.DialTimeout("tcp4", fmt.Sprint("127.0.0.1:", sa.(*unix.SockaddrInet4).Port), 50*time.Millisecond); err == nil {
			made++
		}
	}
	fmt.Println(made, "wait to be taken")
}

// connection is two ends of one.
func connection() (a, b *net.TCPConn) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	check(err)
	defer l.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	check(err)
	d, err := l.Accept()
	check(err)
	return c.(*net.TCPConn), d.(*net.TCPConn)
}

// with calls f with the descriptor of a connection.
func with(c syscall.Conn, f func(fd int)) {
	raw, err := c.SyscallConn()
	check(err)
	check(raw.Control(func(fd uintptr) { f(int(fd)) }))
}
