package member_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/docker/member"
	"recount/election"
)

type access struct {
	Token uint64
	Value int64
}

// resource is the harness's end of the writers' connections. It closes each one after so many writes.
type resource struct {
	net.Listener
	writes chan access
	conns  chan struct{}
	max    int
}

func newResource(t *testing.T, most int) *resource {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &resource{Listener: l, writes: make(chan access, 10_000), conns: make(chan struct{}, 10_000), max: most}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.conns <- struct{}{}
			go r.serve(t, conn)
		}
	}()
	return r
}

func (r *resource) serve(t *testing.T, conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	for range r.max {
		if !lines.Scan() {
			return
		}
		var a access
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Error(err)
			return
		}
		r.writes <- a
		if _, err := conn.Write([]byte(`{"accepted":false}` + "\n")); err != nil {
			return
		}
	}
}

func (r *resource) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", r.Addr().String())
}

func (r *resource) next(t *testing.T) access {
	select {
	case a := <-r.writes:
		return a
	case <-time.After(patience):
		require.FailNow(t, "no write came")
		return access{}
	}
}

func TestLeaderWritesWithItsTerm(t *testing.T) {
	r := newResource(t, 5)
	m := cluster(t, 1, "raft")[0]
	m.writer = &member.WriterConfig{Every: time.Millisecond, Gap: time.Millisecond, Dial: r.dial}
	m.start(nil)
	last := int64(1<<16|1) << 32 // n1, first life
	for i := range 12 {
		a := r.next(t)
		require.Equal(t, uint64(1), a.Token)
		require.Greater(t, a.Value, last, "no write comes twice")
		if i == 0 {
			require.Equal(t, last+1, a.Value)
		}
		last = a.Value
	}
	require.GreaterOrEqual(t, len(r.conns), 3, "connections that broke were dialed again")
	m.kill()
	for len(r.writes) > 0 {
		<-r.writes
	}
	m.start(nil)
	a := r.next(t)
	for a.Token == 1 { // written before the kill
		a = r.next(t)
	}
	require.Equal(t, access{2, int64(1<<16|2)<<32 + 1}, a, "a second life writes other values, in a later term")
}

// server is a real system's server that says what it is told to.
type server struct {
	mu       sync.Mutex
	status   election.Status
	torn     bool
	err      error
	observed int // with the present answer
}

func (s *server) say(status election.Status, torn bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.torn, s.err, s.observed = status, torn, err, 0
}

func (s *server) looks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.observed
}

func (s *server) Observe(context.Context) (election.Status, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observed++
	return s.status, s.torn, s.err
}

func (s *server) Close() error { return nil }

func TestWriterBesideAServerWritesWhileItLeads(t *testing.T) {
	r := newResource(t, 10_000)
	leads := election.Status{Role: election.Leader, Term: 5, Leader: 2}
	s := &server{status: leads}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- member.RunSidecar(ctx, member.SidecarConfig{
			ID: 2, Observer: s, Rand: streams, Data: t.TempDir(), Log: log.New(t.Output(), "", 0),
			Writer: member.WriterConfig{Every: time.Millisecond, Gap: time.Millisecond, Dial: r.dial},
		})
	}()
	require.Equal(t, access{5, int64(2<<16|1)<<32 + 1}, r.next(t))

	// Each look that finds a leader makes one write, unless the resource does not keep up, so there are no more writes than
	// such looks.
	s.mu.Lock()
	wrote := s.observed
	s.status = election.Status{Role: election.Follower, Term: 6, Leader: 1}
	s.observed = 0
	s.mu.Unlock()
	for _, idle := range []func(){
		func() {},
		func() { s.say(leads, true, nil) },
		func() { s.say(leads, false, errors.New("connection refused")) },
	} {
		idle()
		require.Eventually(t, func() bool { return s.looks() >= 5 }, patience, time.Millisecond)
	}
	s.say(election.Status{Role: election.Leader, Term: 7, Leader: 2}, false, nil)
	n := 1
	for r.next(t).Token == 5 {
		n++
	}
	require.LessOrEqual(t, n, wrote)
	stop()
	require.NoError(t, <-done)
}

// Through the harness a writer looks again only when it knows what became of its last write, however long that takes.
func TestAWriterThroughTheHarnessWaitsForItsWrites(t *testing.T) {
	here, there := net.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- member.RunSidecar(ctx, member.SidecarConfig{
			ID: 2, Rand: streams, Data: t.TempDir(), Log: log.New(t.Output(), "", 0),
			Writer: member.WriterConfig{
				Every: time.Millisecond, Gap: time.Millisecond, Dial: func(context.Context) (net.Conn, error) { return here, nil },
			},
		})
	}()
	harness := bufio.NewReadWriter(bufio.NewReader(there), bufio.NewWriter(there))
	hears := func(want string) {
		line, err := harness.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, want+"\n", line)
	}
	says := func(line string) {
		_, err := there.Write([]byte(line + "\n"))
		require.NoError(t, err)
	}
	const look = `{"look":true}`
	hears(look)
	says(`{"error":"connection refused"}`)
	hears(look)
	says(`{"leads":false,"term":6}`)
	hears(look)
	says(`{"leads":true,"term":7}`)
	hears(`{"token":7,"value":562954248388609}`)
	hears(look)
	says(`{"accepted":true}`)
	says(`{"leads":true,"term":7}`)
	hears(`{"token":7,"value":562954248388610}`)
	stop()
	require.NoError(t, <-done)
}
