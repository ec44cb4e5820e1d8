package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

var group = &net.UDPAddr{IP: net.IPv4(239, 1, 2, 3), Port: 5353}

// shares has a socket share its port.
var shares = net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { check(unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)) })
}}

// heard are the texts that wait for a socket.
func heard(c net.PacketConn) (texts []string) {
	time.Sleep(20 * time.Millisecond)
	b := make([]byte, 1<<10)
	for {
		check(c.SetReadDeadline(time.Now().Add(10 * time.Millisecond)))
		n, _, err := c.ReadFrom(b)
		if err != nil {
			return texts
		}
		texts = append(texts, string(b[:n]))
	}
}

// kernelGroups prints what calls of sockets and groups answer, and who hears what, on one machine.
func kernelGroups() {
	lo, err := net.InterfaceByIndex(1)
	check(err)
	one, err := net.ListenMulticastUDP("udp4", lo, group)
	check(err)
	two, err := net.ListenMulticastUDP("udp4", lo, group)
	check(err)
	bound, err := net.ListenMulticastUDP("udp4", lo, &net.UDPAddr{IP: net.IPv4(239, 1, 2, 4), Port: group.Port})
	check(err)
	other, err := net.ListenPacket("udp4", ":0") // it may send to groups, and hears its own port alone
	check(err)
	from := ipv4.NewPacketConn(other)
	loops, err := from.MulticastLoopback()
	fmt.Println(loops, err)
	ttl, err := from.MulticastTTL()
	fmt.Println(ttl, err)
	check(from.SetMulticastInterface(lo))
	said := func(text string, to *net.UDPAddr) {
		_, err := other.WriteTo([]byte(text), to)
		fmt.Println(text, err == nil, heard(one), heard(two), heard(bound), heard(other))
	}
	said("to both", group)
	said("to a group of another", &net.UDPAddr{IP: net.IPv4(239, 1, 2, 4), Port: group.Port})
	said("to nobody's", &net.UDPAddr{IP: net.IPv4(239, 1, 2, 5), Port: group.Port})
	said("to one alone", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: group.Port})
	with(one, func(fd int) { check(unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_ALL, 0)) })
	said("to a group that one has not joined", &net.UDPAddr{IP: net.IPv4(239, 1, 2, 4), Port: group.Port})
	check(from.SetMulticastLoopback(false))
	said("heard all the same by this interface", group)
	check(from.SetMulticastLoopback(true))

	p := ipv4.NewPacketConn(two)
	here := &net.UDPAddr{IP: group.IP}
	fmt.Println(cause(p.JoinGroup(lo, here)))
	fmt.Println(cause(p.JoinGroup(&net.Interface{Index: 4711}, here)))
	fmt.Println(cause(p.JoinGroup(lo, &net.UDPAddr{IP: net.IPv4(10, 1, 2, 3)})))
	check(p.SetControlMessage(ipv4.FlagDst|ipv4.FlagInterface, true))
	said("seen where it went", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: group.Port})
	_, err = other.WriteTo([]byte("x"), group)
	check(err)
	check(two.SetReadDeadline(time.Time{}))
	_, cm, _, err := p.ReadFrom(make([]byte, 9))
	check(err)
	fmt.Println(cm.Dst, cm.IfIndex)
	check(p.LeaveGroup(lo, here))
	fmt.Println(cause(p.LeaveGroup(lo, here)))
	said("to those who are left", group)
	check(one.Close())
	_, err = other.WriteTo([]byte("to a group that all have left"), group)
	fmt.Println(err, heard(two), heard(bound))
	with(other.(*net.UDPConn), func(fd int) {
		for _, o := range []int{0, 1} {
			check(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BROADCAST, o))
			fmt.Println(unix.Sendto(fd, []byte("x"), 0, &unix.SockaddrInet4{Addr: [4]byte{255, 255, 255, 255}, Port: 5353}))
		}
	})
	_, err = net.Dial("tcp4", "239.1.2.3:80")
	fmt.Println(errors.Is(err, syscall.ENETUNREACH))
	near, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	check(err)
	_, err = near.WriteTo([]byte("x"), &net.UDPAddr{IP: net.IPv4(10, 9, 0, 200), Port: 80})
	fmt.Println(errors.Is(err, syscall.EINVAL))
}

// kernelShared prints who may have a port that another has, and whether each that shares one is given a share.
func kernelShared() {
	ctx := context.Background()
	for _, network := range []string{"tcp4", "udp4"} {
		listen := func(c *net.ListenConfig, at string) (port string, err error) {
			var addr net.Addr
			if strings.HasPrefix(network, "udp") {
				l, err := c.ListenPacket(ctx, network, at)
				if err != nil {
					return "", err
				}
				addr = l.LocalAddr()
			} else {
				l, err := c.Listen(ctx, network, at)
				if err != nil {
					return "", err
				}
				addr = l.Addr()
			}
			_, port, err = net.SplitHostPort(addr.String())
			return port, err
		}
		port, err := listen(&net.ListenConfig{}, "127.0.0.1:0")
		check(err)
		for _, at := range []string{"127.0.0.1:", "127.0.0.2:", "0.0.0.0:"} {
			_, err := listen(&net.ListenConfig{}, at+port)
			fmt.Println(network, at, errors.Is(err, syscall.EADDRINUSE), err == nil)
		}
		_, err = listen(&shares, "127.0.0.1:"+port)
		fmt.Println(network, errors.Is(err, syscall.EADDRINUSE))
		port, err = listen(&shares, "127.0.0.1:0")
		check(err)
		_, err = listen(&shares, "127.0.0.1:"+port)
		fmt.Println(network, err)
		_, err = listen(&net.ListenConfig{}, "127.0.0.1:"+port)
		fmt.Println(network, errors.Is(err, syscall.EADDRINUSE))
	}

	first, err := shares.Listen(ctx, "tcp4", "127.0.0.1:0")
	check(err)
	took := make([]int, 3)
	take := func(i int, l net.Listener) {
		for {
			if _, err := l.Accept(); err != nil {
				return
			}
			took[i]++
		}
	}
	go take(0, first)
	for i := range 2 {
		l, err := shares.Listen(ctx, "tcp4", first.Addr().String())
		check(err)
		go take(i+1, l)
	}
	for range 90 {
		_, err := net.Dial("tcp4", first.Addr().String())
		check(err)
	}
	time.Sleep(20 * time.Millisecond)
	fmt.Println(took[0]+took[1]+took[2], slices.Min(took) > 9)
	check(first.Close())
	had := took[0]
	for range 30 {
		_, err := net.Dial("tcp4", first.Addr().String())
		check(err)
	}
	time.Sleep(20 * time.Millisecond)
	fmt.Println(took[0]-had, took[0]+took[1]+took[2])
}

// gossip prints what it hears of others, and of itself.
func gossip(name string) {
	time.Sleep(100 * time.Millisecond)
	eth0, err := net.InterfaceByName("eth0")
	check(err)
	c, err := net.ListenMulticastUDP("udp4", eth0, group) // which does not hear itself
	check(err)
	all, err := net.ListenPacket("udp4", ":5454")
	check(err)
	time.Sleep(time.Second)
	_, err = c.WriteTo([]byte(name), group)
	check(err)
	for _, to := range []string{"255.255.255.255:5454", "10.9.255.255:5454"} {
		at, err := net.ResolveUDPAddr("udp4", to)
		check(err)
		_, err = all.WriteTo([]byte(name+" to all"), at)
		check(err)
	}
	for _, c := range []net.PacketConn{c, all} {
		texts := heard(c)
		slices.Sort(texts)
		fmt.Println(strings.Join(texts, ", "))
	}
	if name == "n2" {
		check(ipv4.NewPacketConn(c).LeaveGroup(eth0, &net.UDPAddr{IP: group.IP}))
	}
	time.Sleep(time.Second)
	_, err = c.WriteTo([]byte(name), group)
	check(err)
	texts := heard(c)
	slices.Sort(texts)
	fmt.Println(strings.Join(texts, ", "))
}

// names prints what the name server knows, and whether a resolver's own way to it is taken.
func names() {
	ctx := context.Background()
	said := func(what any, err error) {
		var none *net.DNSError
		fmt.Println(what, errors.As(err, &none) && none.IsNotFound)
	}
	asked := 0
	own := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		asked++
		return new(net.Dialer).DialContext(ctx, network, "127.0.0.11:53")
	}}
	for _, r := range []*net.Resolver{net.DefaultResolver, own} {
		for _, name := range []string{"n2", "n9"} {
			addrs, err := r.LookupHost(ctx, name)
			said(addrs, err)
			_, srv, err := r.LookupSRV(ctx, "raft", "tcp", name)
			said(srv, err)
			txt, err := r.LookupTXT(ctx, name)
			said(txt, err)
		}
		called, err := r.LookupAddr(ctx, "10.9.0.2")
		said(called, err)
		addrs, err := r.LookupHost(ctx, "N2.")
		said(addrs, err)
	}
	fmt.Println(asked > 0)
	b, err := os.ReadFile("/etc/resolv.conf")
	check(err)
	fmt.Println(strings.Fields(string(b))[1])
}
