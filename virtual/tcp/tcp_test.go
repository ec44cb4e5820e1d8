package tcp

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lab is two hosts and what is between them.
type lab struct {
	now   time.Duration
	due   []event
	seq   int
	hosts map[netip.Addr]*Host
	lose  func(s Segment) bool
	twice func(s Segment) bool
	late  func() time.Duration
	sent  int
}

type event struct {
	at  time.Duration
	seq int
	f   func()
}

func (l *lab) Now() time.Duration { return l.now }

func (l *lab) After(d time.Duration, f func()) {
	l.seq++
	l.due = append(l.due, event{l.now + max(d, 0), l.seq, f})
}

func (l *lab) Carry(s Segment) {
	l.sent++
	copies := 1
	if l.twice != nil && l.twice(s) {
		copies = 2
	}
	for range copies {
		if l.lose != nil && l.lose(s) {
			continue
		}
		d := time.Millisecond
		if l.late != nil {
			d = l.late()
		}
		l.After(d, func() {
			if h := l.hosts[s.To.Addr()]; h != nil {
				h.Receive(s)
			}
		})
	}
}

func (l *lab) run(until time.Duration) {
	for {
		i := -1
		for k, e := range l.due {
			if i < 0 || e.at < l.due[i].at || e.at == l.due[i].at && e.seq < l.due[i].seq {
				i = k
			}
		}
		if i < 0 || l.due[i].at > until {
			l.now = until
			return
		}
		e := l.due[i]
		l.due = slices.Delete(l.due, i, i+1)
		l.now = e.at
		e.f()
	}
}

var (
	here  = netip.MustParseAddrPort("10.0.0.1:40000")
	there = netip.MustParseAddrPort("10.0.0.2:80")
)

func newLab() *lab {
	l := &lab{hosts: map[netip.Addr]*Host{}}
	for _, a := range []netip.AddrPort{here, there} {
		l.hosts[a.Addr()] = NewHost(l, 1)
	}
	return l
}

// program takes down what it is told. One that reads does so at once.
type program struct {
	lab      *lab
	reads    bool
	conns    []*Conn
	got      bytes.Buffer
	up       bool
	over     bool
	acked    int
	err      syscall.Errno
	failedAt time.Duration
}

func (p *program) Accepted(_ *Listener, c *Conn) { p.conns = append(p.conns, c); c.Taken() }
func (p *program) Connected(*Conn)               { p.up = true }
func (p *program) Ended(*Conn)                   { p.over = true }
func (p *program) Acked(_ *Conn, n int)          { p.acked += n }
func (p *program) Arrived(c *Conn, b []byte) {
	p.got.Write(b)
	if p.reads {
		c.Read(len(b))
	}
}

func (p *program) Failed(_ *Conn, err syscall.Errno) { p.err, p.failedAt = err, p.lab.now }

// pair is a connection between a client and a server.
func pair(l *lab) (client, server *program, c *Conn) {
	client, server = &program{lab: l, reads: true}, &program{lab: l, reads: true}
	l.hosts[there.Addr()].Listen(server, 1, there, 16, false)
	c = l.hosts[here.Addr()].Connect(client, 1, here, there)
	return client, server, c
}

func TestBytesArriveInOrderWhateverTheNetworkDoes(t *testing.T) {
	for seed := range uint64(60) {
		l, r := newLab(), rand.New(rand.NewPCG(seed, 1))
		l.lose = func(Segment) bool { return r.Float64() < 0.2 }
		l.twice = func(Segment) bool { return r.Float64() < 0.2 }
		l.late = func() time.Duration { return time.Duration(r.Int64N(int64(50 * time.Millisecond))) }
		client, server, c := pair(l)
		var there, back bytes.Buffer
		l.run(time.Minute)
		for range 20 {
			p := make([]byte, r.IntN(100_000))
			for i := range p {
				p[i] = byte(r.Uint32())
			}
			c.Write(p)
			there.Write(p)
			l.run(l.now + time.Duration(r.Int64N(int64(300*time.Millisecond))))
			server.conns[0].Write(p[:len(p)/3])
			back.Write(p[:len(p)/3])
		}
		c.Shut()
		l.run(l.now + 20*time.Minute)
		require.True(t, server.over && !client.over, "seed %d: half closed", seed)
		server.conns[0].Close()
		l.run(l.now + 20*time.Minute)
		require.True(t, client.over, "seed %d", seed)
		require.True(t, bytes.Equal(there.Bytes(), server.got.Bytes()), "seed %d", seed)
		require.True(t, bytes.Equal(back.Bytes(), client.got.Bytes()), "seed %d", seed)
		require.Equal(t, there.Len(), client.acked)
		c.Close()
		l.run(l.now + 10*time.Minute)
		for _, h := range l.hosts {
			require.Empty(t, h.conns, "seed %d: nothing is left", seed)
		}
	}
}

func TestConnectingToNobody(t *testing.T) {
	l := newLab()
	p := &program{lab: l}
	l.hosts[here.Addr()].Connect(p, 1, here, there)
	l.run(time.Second)
	require.Equal(t, syscall.ECONNREFUSED, p.err, "nobody listens")
	l.lose = func(Segment) bool { return true }
	p = &program{lab: l}
	l.hosts[here.Addr()].Connect(p, 1, here, there)
	l.run(10 * time.Minute)
	require.Equal(t, syscall.ETIMEDOUT, p.err)
	require.Equal(t, (1+131)*time.Second, p.failedAt)
}

func TestTheFirstSYNIsTriedAgain(t *testing.T) {
	l := newLab()
	l.lose = func(Segment) bool { return l.now < 1500*time.Millisecond }
	client, server, _ := pair(l)
	l.run(1900 * time.Millisecond)
	require.False(t, client.up)
	l.run(2100 * time.Millisecond)
	require.True(t, client.up)
	require.Len(t, server.conns, 1)
}

func TestACutIsFoundOutByWhatWasSent(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(c *Conn)
		send bool
		min  time.Duration
		max  time.Duration
	}{
		"retries":             {send: true, min: 15 * time.Minute, max: 17 * time.Minute},
		"user timeout":        {send: true, set: func(c *Conn) { c.SetUserTimeout(20 * time.Second) }, min: 20 * time.Second, max: 60 * time.Second},
		"keepalive":           {set: func(c *Conn) { c.SetKeepAlive(KeepAlive{15 * time.Second, 15 * time.Second, 9}) }, min: 149 * time.Second, max: 151 * time.Second},
		"silence goes unseen": {min: -1},
	} {
		l := newLab()
		client, _, conn := pair(l)
		l.run(time.Second)
		if c.set != nil {
			c.set(conn)
		}
		l.lose = func(Segment) bool { return true }
		if c.send {
			conn.Write([]byte("x"))
		}
		l.run(time.Hour)
		if c.min < 0 {
			require.Zero(t, client.err, name)
			continue
		}
		require.Equal(t, syscall.ETIMEDOUT, client.err, name)
		require.GreaterOrEqual(t, client.failedAt-time.Second, c.min, name)
		require.LessOrEqual(t, client.failedAt-time.Second, c.max, name)
	}
}

func TestACutThatEndsIsOverWithTheNextTry(t *testing.T) {
	l := newLab()
	_, server, conn := pair(l)
	l.run(time.Second)
	l.lose = func(Segment) bool { return l.now < 6*time.Second }
	conn.Write([]byte("x"))
	l.run(6 * time.Second)
	require.Zero(t, server.got.Len())
	l.run(11 * time.Second)
	require.Equal(t, "x", server.got.String())
}

// A program that goes on writing does not end a cut's wait: Linux sends nothing new while the first lost segment is not acknowledged.
func TestWhatIsWrittenDuringACutWaitsWithTheRest(t *testing.T) {
	for name, lost := range map[string]func(l *lab, s Segment) bool{
		"all is lost":                  func(l *lab, _ Segment) bool { return l.now < 6*time.Second },
		"the acknowledgments are lost": func(l *lab, s Segment) bool { return l.now < 6*time.Second && s.To == here },
	} {
		l := newLab()
		_, server, conn := pair(l)
		l.run(time.Second)
		l.lose = func(s Segment) bool { return lost(l, s) }
		for at := time.Second; at < 10*time.Second; at += 100 * time.Millisecond {
			l.run(at)
			conn.Write([]byte("x"))
			switch got := server.got.Len(); {
			case at < 7200*time.Millisecond: // tried again 0.2, 0.6, 1.4, 3 and 6.2 s after the first segment, and some round trips
				require.LessOrEqual(t, got, 3, "%s: %v: what was sent before an answer was overdue", name, at)
			case at >= 7500*time.Millisecond:
				require.GreaterOrEqual(t, got, 60, "%s: %v", name, at)
			}
		}
		l.run(15 * time.Second)
		require.Equal(t, 90, server.got.Len(), name)
	}
}

func TestAWriterWaitsForAReader(t *testing.T) {
	l := newLab()
	client, server, conn := pair(l)
	server.reads = false
	l.run(time.Second)
	conn.Write(make([]byte, 3*window))
	l.run(time.Minute)
	require.Equal(t, window, server.got.Len(), "no more than the window")
	require.Equal(t, window, client.acked)
	server.conns[0].Read(window)
	l.run(2 * time.Minute)
	require.Equal(t, 2*window, server.got.Len())
	require.Zero(t, client.err, "a closed window is no failure")
	l.run(time.Hour)
	require.Zero(t, client.err)
	l.lose = func(Segment) bool { return l.now < time.Hour+time.Second } // the news that there is room is lost
	server.conns[0].Read(window)
	l.run(2 * time.Hour)
	require.Equal(t, 3*window, server.got.Len(), "probes find out")
}

func TestTheEndOfAProcessIsToldByItsKernel(t *testing.T) {
	l := newLab()
	client, server, conn := pair(l)
	l.run(time.Second)
	l.hosts[there.Addr()].Ended(server)
	l.run(2 * time.Second)
	require.True(t, client.over)
	conn.Write([]byte("x"))
	l.run(3 * time.Second)
	require.Equal(t, syscall.EPIPE, client.err, "the connection had ended")
	p := &program{lab: l}
	l.hosts[here.Addr()].Connect(p, 2, here, there)
	l.run(4 * time.Second)
	require.Equal(t, syscall.ECONNREFUSED, p.err)
}

func TestACrashIsSilent(t *testing.T) {
	l := newLab()
	client, server, conn := pair(l)
	l.run(time.Second)
	l.hosts[there.Addr()].Crash()
	l.run(2 * time.Second)
	require.Zero(t, client.err)
	require.False(t, client.over)
	l.hosts[there.Addr()].Listen(server, 1, there, 16, false)
	conn.Write([]byte("x"))
	l.run(3 * time.Second)
	require.Equal(t, syscall.ECONNRESET, client.err, "it knows nothing of the connection")
}

// A machine that was lost comes back with the same ends: the old connection stands in the way until it is reset.
func TestAConnectionReplacesOneThatItsPeerHasForgotten(t *testing.T) {
	l := newLab()
	client, server, _ := pair(l)
	l.run(time.Second)
	l.hosts[here.Addr()].Crash()
	again := &program{lab: l, reads: true}
	l.hosts[here.Addr()].Connect(again, 1, here, there)
	l.run(time.Minute)
	require.False(t, client.over)
	require.Equal(t, syscall.ECONNRESET, server.err)
	require.True(t, again.up)
}

func TestABacklogIsFinite(t *testing.T) {
	l := newLab()
	server := &backlogged{program{lab: l}}
	l.hosts[there.Addr()].Listen(server, 1, there, 3, false)
	var clients []*program
	for i := range uint16(5) {
		p := &program{lab: l}
		clients = append(clients, p)
		l.hosts[here.Addr()].Connect(p, 1, netip.AddrPortFrom(here.Addr(), 40000+i), there)
	}
	up := func() (n int) {
		for _, p := range clients {
			if p.up {
				n++
			}
		}
		return n
	}
	l.run(500 * time.Millisecond)
	require.Equal(t, 3, up())
	for _, c := range server.conns {
		c.Taken()
	}
	l.run(2 * time.Second)
	require.Equal(t, 5, up(), "the others are tried again")
}

// Listeners that share an address are each given connections, by their ends: the same ends lead to the same. Nobody joins those who do not.
func TestListenersShareAnAddress(t *testing.T) {
	share := func() (had []int) {
		l := newLab()
		h := l.hosts[there.Addr()]
		servers := []*program{{lab: l}, {lab: l}, {lab: l}}
		for i, s := range servers {
			require.NotNil(t, h.Listen(s, uint32(i), there, 100, true))
		}
		require.Nil(t, h.Listen(servers[0], 4, there, 100, false))
		for i := range uint16(90) {
			l.hosts[here.Addr()].Connect(&program{lab: l}, uint32(i), netip.AddrPortFrom(here.Addr(), 40000+i), there)
		}
		l.run(time.Second)
		for _, s := range servers {
			had = append(had, len(s.conns))
		}
		return had
	}
	had := share()
	require.Equal(t, 90, had[0]+had[1]+had[2])
	require.Greater(t, slices.Min(had), 15)
	require.Equal(t, had, share())
}

// backlogged accepts nothing by itself.
type backlogged struct{ program }

func (p *backlogged) Accepted(_ *Listener, c *Conn) { p.conns = append(p.conns, c) }
