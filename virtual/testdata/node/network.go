package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// reader is an interface of which the compiler does not know who has it.
type reader interface {
	io.Reader
	Fd() uintptr
}

//go:noinline
func reads(r reader) { r.Read(make([]byte, 1)) }

// network does what has to do with other nodes, or with signals.
func network(args []string) {
	switch args[0] {
	case "hear": // prints how many datagrams wait for it every ten seconds
		c, err := net.ListenPacket("udp4", ":5000")
		check(err)
		for {
			time.Sleep(10 * time.Second)
			b := make([]byte, 1<<16)
			for n := 0; ; n++ {
				check(c.SetReadDeadline(time.Now().Add(time.Millisecond)))
				if _, _, err := c.ReadFrom(b); err != nil {
					fmt.Println(n)
					break
				}
			}
		}
	case "tell": // sends so many datagrams of so many bytes to n1, after a second
		time.Sleep(time.Second)
		n, err := strconv.Atoi(args[1])
		check(err)
		size, err := strconv.Atoi(args[2])
		check(err)
		c, err := net.Dial("udp4", "n1:5000")
		check(err)
		for range n {
			_, err := c.Write(make([]byte, size))
			check(err)
		}
	case "unheard": // sends twenty datagrams to where nobody listens, and prints what it hears of that
		time.Sleep(100 * time.Millisecond)
		to, err := net.ResolveUDPAddr("udp4", args[1])
		check(err)
		named, err := net.DialUDP("udp4", nil, to)
		check(err)
		hears := func(c *net.UDPConn) error {
			check(c.SetReadDeadline(time.Now().Add(100 * time.Millisecond)))
			_, err := c.Read(make([]byte, 1))
			return err
		}
		told := 0
		for range 20 {
			_, err := named.Write([]byte("x"))
			check(err)
			if errors.Is(hears(named), syscall.ECONNREFUSED) {
				told++
			}
		}
		fmt.Println(told, "of 20")
		time.Sleep(2 * time.Second)
		for range 3 {
			_, err := named.Write([]byte("x"))
			fmt.Println(cause(err))
			time.Sleep(10 * time.Millisecond)
		}
		unnamed, err := net.ListenUDP("udp4", nil)
		check(err)
		_, err = unnamed.WriteTo([]byte("x"), to)
		check(err)
		fmt.Println(errors.Is(hears(unnamed), os.ErrDeadlineExceeded))
		if len(args) > 2 {
			os.Exit(0) // it was run by the kernel alone
		}
	case "batch": // sends itself datagrams by one call, and reads them by others
		c, err := net.ListenPacket("udp4", "127.0.0.1:0")
		check(err)
		p := ipv4.NewPacketConn(c)
		var out []ipv4.Message
		for _, text := range []string{"one", "three", ""} {
			out = append(out, ipv4.Message{Buffers: [][]byte{[]byte(text), []byte("!")}, Addr: c.LocalAddr()})
		}
		n, err := p.WriteBatch(out, 0)
		fmt.Println(n, err, out[0].N, out[1].N)
		for _, room := range []int{2, 8} {
			time.Sleep(100 * time.Millisecond)
			in := make([]ipv4.Message, room)
			for i := range in {
				in[i].Buffers = [][]byte{make([]byte, 2), make([]byte, 20)}
			}
			n, err := p.ReadBatch(in, 0)
			fmt.Println(n, err)
			for _, m := range in[:n] {
				fmt.Printf("%q %v\n", slices.Concat(m.Buffers...)[:m.N], m.Addr.String() == c.LocalAddr().String())
			}
		}
		if len(args) > 1 {
			os.Exit(0) // it was run by the kernel alone
		}
	case "sockets", "groups", "shared": // prints what pipes and sockets do
		map[string]func(){"sockets": kernelSockets, "groups": kernelGroups, "shared": kernelShared}[args[0]]()
		if len(args) > 1 {
			os.Exit(0) // it was run by the kernel alone
		}
	case "names": // prints what is known of names
		names()
	case "gossip": // joins a group, sends to it, to all machines, and to the group again once it has left it
		gossip(args[1])
	case "take": // takes all connections, and reads so many bytes of each
		n, err := strconv.Atoi(args[1])
		check(err)
		l, err := net.Listen("tcp", ":80")
		check(err)
		var all []net.Conn
		for {
			c, err := l.Accept()
			check(err)
			_, err = io.ReadFull(c, make([]byte, n))
			check(err)
			all = append(all, c)
		}
	case "give": // makes so many connections to n1, after a second, sends a text over each, and prints how they end
		time.Sleep(time.Second)
		n, err := strconv.Atoi(args[1])
		check(err)
		var all []net.Conn
		for range n {
			c, err := net.Dial("tcp", "n1:80")
			check(err)
			_, err = c.Write([]byte(args[2]))
			check(err)
			all = append(all, c)
		}
		fmt.Println(n, "connections")
		for _, c := range all {
			_, err := c.Read(make([]byte, 1))
			fmt.Println(cause(err))
		}
	case "stubborn": // is asked to end, and does not
		signal.Ignore(syscall.SIGTERM)
		network([]string{"hear"})
	case "tick": // says so each second, so many times
		n, err := strconv.Atoi(args[1])
		check(err)
		for i := range n {
			fmt.Println("tick", i)
			time.Sleep(time.Second)
		}
	case "lines": // writes so many lines of 8 kB
		n, err := strconv.Atoi(args[1])
		check(err)
		for range n {
			fmt.Println(strings.Repeat("x", 8<<10-1))
		}
	case "exit": // with a status, after a while if one is given
		status, err := strconv.Atoi(args[1])
		check(err)
		if len(args) > 2 {
			wait, err := time.ParseDuration(args[2])
			check(err)
			time.Sleep(wait)
		}
		fmt.Println("before the end")
		os.Exit(status)
	case "stacks": // of all its goroutines, while one waits for a connection, and another reads
		l, err := net.Listen("tcp", ":7070")
		check(err)
		go l.Accept()
		r, _, err := os.Pipe()
		check(err)
		go reads(any(r).(reader))
		time.Sleep(time.Second)
		all := make([]byte, 1<<16)
		fmt.Println(string(all[:runtime.Stack(all, true)]))
	case "panic":
		fmt.Println("before the end")
		panic("on purpose")
	case "open":
		fmt.Println("before the call")
		_, err := os.OpenFile(args[1], os.O_WRONLY, 0)
		fmt.Println(err)
	case "loop":
		for {
		}
	case "start":
		fmt.Println(exec.Command("/bin/true").Run())
		_, err := unix.Select(0, nil, nil, nil, &unix.Timeval{})
		fmt.Println(err)
		_, err = unix.Setitimer(unix.ItimerReal, unix.Itimerval{Value: unix.Timeval{Sec: 1}})
		fmt.Println(err)
		for _, network := range []string{"unixgram", "unixpacket"} {
			_, err := net.Dial(network, "/nobody")
			fmt.Println(cause(err))
		}
		_, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
		fmt.Println(err)
		c, err := net.ListenPacket("udp4", ":0")
		check(err)
		fmt.Println(cause(ipv4.NewPacketConn(c).JoinSourceSpecificGroup(nil, group, &net.UDPAddr{IP: net.IPv4(10, 9, 0, 2)})))
		_, err = syscall.NetlinkRIB(unix.RTM_NEWADDR, unix.AF_INET)
		fmt.Println(cause(err))
	case "spin-for-another": // of its own goroutines, which can go on, in loops that wait for nothing
		closed, never := make(chan struct{}), make(chan struct{})
		close(closed)
		for _, look := range []func(){
			func() {
				select {
				case <-closed:
				case <-never:
				}
			},
			func() {
				select {
				case <-never:
				default:
				}
			},
			func() { <-closed },
			func() {
				select {
				case never <- struct{}{}:
				default:
				}
			},
		} {
			var over atomic.Bool
			go over.Store(true)
			for !over.Load() {
				look()
			}
			fmt.Println("it was done")
		}
	case "spin":
		for began := time.Now(); time.Since(began) < time.Hour; {
		}
	default:
		fmt.Fprintf(os.Stderr, "nothing is called %q\n", args[0])
		os.Exit(2)
	}
}
