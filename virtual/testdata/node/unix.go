package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// unixSockets prints what calls answer that bind unix sockets, have them listen, and connect to them.
func unixSockets() {
	for range 2 { // without a name each is given one, "@" and five digits
		l, err := net.Listen("unix", "")
		check(err)
		name := l.Addr().String()
		fmt.Println(len(name), name[:1])
		c, err := net.Dial("unix", name)
		check(err)
		d, err := l.Accept()
		fmt.Println(err, d.LocalAddr().String() == name, c.RemoteAddr().String() == name)
	}

	dir, err := os.MkdirTemp("", "unix")
	check(err)
	defer os.RemoveAll(dir)
	abstract := &unix.SockaddrUnix{Name: "@" + dir}
	path := func(name string) unix.Sockaddr { return &unix.SockaddrUnix{Name: filepath.Join(dir, name)} }
	s := unixSocket()
	protocol, err := unix.GetsockoptInt(s, unix.SOL_SOCKET, unix.SO_PROTOCOL)
	fmt.Println(protocol, err)
	fmt.Println("unbound", unix.Listen(s, 1))
	fmt.Println("abstract", unix.Bind(s, abstract))
	fmt.Println("by another", unix.Bind(unixSocket(), abstract))
	fmt.Println("again", unix.Bind(s, abstract), unix.Bind(s, path("a")), unix.Bind(s, &unix.SockaddrUnix{}))
	fmt.Println("silent", unix.Connect(unixSocket(), abstract))
	check(unix.Close(s))
	s = unixSocket()
	fmt.Println("after it was closed", unix.Bind(s, abstract)) // though it had never listened
	fmt.Println(unix.Listen(s, 1), unix.Connect(s, abstract))
	for range 4 { // one more than it wants to wait
		fmt.Println(unix.Connect(unixSocket(), abstract))
	}
	many := unixSocket()
	fmt.Println(unix.Bind(many, path("many")), unix.Listen(many, -1)) // which is as many as may be
	for range 4 {
		fmt.Println(unix.Connect(unixSocket(), path("many")))
	}
	a := unixSocket()
	fmt.Println(unix.Bind(a, path("a")), unix.Bind(unixSocket(), path("a")), unix.Bind(a, path("a")))
	fmt.Println(unix.Connect(unixSocket(), path("nobody")), unix.Connect(unixSocket(), path("a")))
}

func unixSocket() int {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	check(err)
	return fd
}
