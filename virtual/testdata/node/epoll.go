package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// loop is an epoll, and prints what it is told of.
type loop struct {
	fd    int
	names map[int32]string
}

func newLoop() *loop {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	check(err)
	return &loop{fd, map[int32]string{}}
}

func (l *loop) control(op int, name string, fd int, events uint32) {
	err := unix.EpollCtl(l.fd, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
	fmt.Println([]string{"", "add", "drop", "change"}[op], name, cause(err))
	if err == nil {
		l.names[int32(fd)] = name
	}
}

func (l *loop) add(name string, fd int, events uint32) {
	l.control(unix.EPOLL_CTL_ADD, name, fd, events)
}

// tells prints what is ready within a time in which whatever is under way arrives.
func (l *loop) tells(what string) {
	time.Sleep(20 * time.Millisecond)
	l.waits(what, 0)
}

func (l *loop) waits(what string, ms int) {
	events := make([]unix.EpollEvent, 8)
	n, err := unix.EpollWait(l.fd, events, ms)
	for err == unix.EINTR {
		n, err = unix.EpollWait(l.fd, events, ms)
	}
	fmt.Println(what, n, cause(err))
	for _, e := range events[:max(n, 0)] {
		fmt.Printf("  %s %#x\n", l.names[e.Fd], e.Events)
	}
}

// plain is a socket that package net does not have, of a connection on the loopback.
func plain() (a, b int) {
	l, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	check(err)
	check(unix.Bind(l, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	check(unix.Listen(l, 8))
	e := newLoop()
	all := uint32(unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP)
	e.add("listener", l, all)
	a, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	check(err)
	e.add("new", a, all|unix.EPOLLET)
	e.tells("before it connects")
	sa, err := unix.Getsockname(l)
	check(err)
	fmt.Println(unix.Connect(a, sa))
	e.tells("connected")
	b, _, err = unix.Accept4(l, unix.SOCK_NONBLOCK)
	check(err)
	e.tells("accepted")
	check(unix.Close(l))
	e.tells("closed")
	c, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	check(err)
	fmt.Println(unix.Connect(c, sa))
	e.add("nobody", c, all)
	e.tells("nobody listens")
	check(unix.Close(c))
	check(unix.Close(e.fd))
	return a, b
}

func epoll() {
	runtime.LockOSThread()
	const in, out, hup, edge = unix.EPOLLIN, unix.EPOLLOUT, unix.EPOLLRDHUP, uint32(1 << 31)
	a, b := plain()
	e := newLoop()
	e.add("reader", a, in|hup)
	e.add("reader", a, in)
	e.control(unix.EPOLL_CTL_MOD, "other", b, in)
	e.control(unix.EPOLL_CTL_DEL, "other", b, 0)
	e.add("itself", e.fd, in)
	e.add("none", 1<<20, in)
	f, err := os.CreateTemp("", "")
	check(err)
	e.add("file", int(f.Fd()), in)
	e.tells("nothing")
	_, left, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(a), syscall.F_GETFL, 4711) // badger looks at what a call leaves behind
	fmt.Println("left", left, cause(errno))
	check(second(unix.Write(b, []byte("12"))))
	e.tells("two bytes")
	e.tells("two bytes still")
	check(second(unix.Read(a, make([]byte, 1))))
	e.tells("one byte")
	e.control(unix.EPOLL_CTL_MOD, "reader", a, in|out|edge)
	e.tells("at the edge")
	e.tells("no more")
	check(second(unix.Write(b, []byte("3"))))
	e.tells("another byte")
	e.control(unix.EPOLL_CTL_MOD, "reader", a, in|unix.EPOLLONESHOT)
	e.tells("once")
	e.tells("and not twice")
	check(second(unix.Read(a, make([]byte, 9))))
	e.control(unix.EPOLL_CTL_MOD, "reader", a, in|out|hup)
	page := make([]byte, 64<<10)
	sent, last := 0, 0
	for range 3 { // some arrives meanwhile, for which there is room at the other end
		for last, err = unix.Write(a, page); err == nil; last, err = unix.Write(a, page) {
			sent += last
		}
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Println("full", err, sent > 1<<18)
	e.tells("full")
	for got := 0; got < sent; {
		if n, err := unix.Read(b, page); err == nil {
			got += n
		} else {
			time.Sleep(time.Millisecond)
		}
	}
	e.tells("emptied")
	check(unix.Shutdown(b, unix.SHUT_WR))
	e.tells("no more comes")
	check(unix.Shutdown(a, unix.SHUT_WR))
	e.tells("and none goes")
	check(unix.Close(a))
	e.tells("closed")
	check(unix.Close(b))

	a, b = plain()
	e.add("reset", a, in|hup|edge)
	e.tells("before")
	check(unix.SetsockoptLinger(b, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}))
	check(unix.Close(b))
	e.tells("reset")
	e.tells("told")
	check(unix.Close(a))

	ev, err := unix.Eventfd(0, unix.EFD_NONBLOCK)
	check(err)
	e.add("events", ev, in|out|edge)
	e.tells("no event")
	n, err := unix.Read(ev, make([]byte, 8))
	fmt.Println(n, err)
	one := (*(*[8]byte)(unsafe.Pointer(&[]uint64{3}[0])))[:]
	for range 2 {
		check(second(unix.Write(ev, one)))
		e.tells("event")
	}
	buf := make([]byte, 8)
	n, err = unix.Read(ev, buf)
	fmt.Println(n, err, buf)
	n, err = unix.Read(ev, buf[:4])
	fmt.Println(n, err)
	e.tells("taken")
	_, err = unix.Eventfd(0, 1<<30)
	fmt.Println(err)
	single, err := unix.Eventfd(2, unix.EFD_SEMAPHORE) // one that blocks
	check(err)
	for range 2 {
		n, err = unix.Read(single, buf)
		fmt.Println(n, err, buf)
	}
	go func() {
		time.Sleep(30 * time.Millisecond)
		check(second(unix.Write(single, one)))
	}()
	began := time.Now()
	n, err = unix.Read(single, buf)
	fmt.Println(n, err, buf, time.Since(began) > 25*time.Millisecond)

	outer := newLoop()
	outer.add("inner", e.fd, in|edge)
	e.add("outer", outer.fd, in) // which would be a ring
	outer.tells("nothing within")
	go func() {
		time.Sleep(30 * time.Millisecond)
		check(second(unix.Write(ev, one)))
	}()
	outer.waits("woken up", -1)
	e.waits("within", -1)
	began = time.Now()
	e.waits("in vain", 40)
	fmt.Println(time.Since(began) >= 39*time.Millisecond, time.Since(began) < 200*time.Millisecond)
	_, err = unix.EpollWait(e.fd, nil, 0)
	fmt.Println(err)
	_, err = unix.EpollWait(ev, make([]unix.EpollEvent, 1), 0)
	fmt.Println(err)

	p := make([]int, 2)
	check(unix.Pipe2(p, unix.O_NONBLOCK))
	q, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	check(err)
	for i, name := range []string{"reading end", "writing end"} {
		e.add(name, p[i], in|out|hup)
	}
	e.tells("pipe")
	check(second(unix.Write(p[1], []byte("1"))))
	e.tells("something in it")
	polled := func(what string, ms int, fds ...int) {
		list := make([]unix.PollFd, len(fds))
		for i, fd := range fds {
			list[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN | unix.POLLOUT | unix.POLLRDHUP}
		}
		n, err := unix.Poll(list, ms)
		for err == unix.EINTR {
			n, err = unix.Poll(list, ms)
		}
		fmt.Print(what, " ", n, " ", cause(err))
		for _, f := range list {
			fmt.Printf(" %#x", f.Revents)
		}
		fmt.Println()
	}
	polled("poll", 0, p[0], p[1], q[0], int(f.Fd()), -1, 1<<20, ev)
	check(unix.Close(p[1]))
	e.tells("nobody writes")
	check(unix.Close(p[0]))
	check(unix.Pipe2(p, unix.O_NONBLOCK))
	check(unix.Close(p[0]))
	polled("nobody reads", 0, p[1])
	check(unix.Close(q[1]))
	polled("the other is gone", 0, q[0])
	began = time.Now()
	polled("of none", 30)
	fmt.Println(time.Since(began) >= 29*time.Millisecond)
	check(unix.Pipe2(p, unix.O_NONBLOCK))
	go func() {
		time.Sleep(30 * time.Millisecond)
		check(second(unix.Write(p[1], []byte("1"))))
	}()
	list := []unix.PollFd{{Fd: int32(p[0]), Events: unix.POLLIN}}
	n, err = unix.Poll(list, 5000)
	for err == unix.EINTR {
		n, err = unix.Poll(list, 5000)
	}
	fmt.Println(n, err, list[0].Revents)

	u, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK, 0)
	check(err)
	check(unix.Bind(u, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	sa, err := unix.Getsockname(u)
	check(err)
	d := newLoop()
	d.add("datagrams", u, in|out)
	d.tells("none")
	check(unix.Sendto(u, []byte("1"), 0, sa))
	d.tells("one")
	second, err := syscall.Dup(u) // what epoll has is the socket, not its number
	check(err)
	check(unix.Close(u))
	d.tells("closed once")
	check(unix.Close(second))
	d.tells("closed")
}

func second(_ int, err error) error { return err }

// handlers are goroutines that all wait for one epoll, and take what comes by turns.
func handlers() {
	e, err := unix.EpollCreate1(0)
	check(err)
	ev, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_SEMAPHORE)
	check(err)
	check(unix.EpollCtl(e, unix.EPOLL_CTL_ADD, ev, &unix.EpollEvent{Events: unix.EPOLLIN}))
	took := make(chan int, 1000)
	for i := range 4 {
		go func() {
			for {
				n, err := unix.EpollWait(e, make([]unix.EpollEvent, 1), 7)
				check(err)
				if n == 0 {
					continue
				}
				runtime.Gosched()
				if _, err := unix.Read(ev, make([]byte, 8)); err == nil {
					took <- i
				}
			}
		}()
	}
	for i := range 100 {
		time.Sleep(time.Duration(i%8) * time.Millisecond)
		check(second(unix.Write(ev, []byte{byte(1 + i%3), 0, 0, 0, 0, 0, 0, 0})))
	}
	time.Sleep(time.Second)
	fmt.Println("taken", len(took))
}
