package member_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/docker/member"
	"recount/election"
	"recount/history"
	"recount/targets"
)

const patience = 30 * time.Second

// place is one node of a test's cluster: its place, and its process while it runs.
type place struct {
	t       *testing.T
	id      election.ID
	members []netip.AddrPort
	new     func(env election.Env) election.Node
	data    string
	writer  *member.WriterConfig

	stop   context.CancelFunc
	done   chan error
	client *member.Client
}

// cluster makes n members of an algorithm that do not run yet.
func cluster(t *testing.T, n int, target string) []*place {
	found, err := targets.Find(target)
	require.NoError(t, err)
	o, err := found.Parse(nil)
	require.NoError(t, err)
	var addrs []netip.AddrPort
	for range n {
		s, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		require.NoError(t, err)
		addrs = append(addrs, netip.MustParseAddrPort(s.LocalAddr().String()))
		require.NoError(t, s.Close())
	}
	var all []*place
	for i := range n {
		m := &place{
			t: t, id: election.ID(i + 1), members: addrs, data: t.TempDir(),
			new: func(env election.Env) election.Node { return found.Node(o, env) },
		}
		t.Cleanup(m.kill)
		all = append(all, m)
	}
	return all
}

// start runs the member's process.
func (m *place) start(hear func(member.Announcement)) {
	socket, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(m.members[m.id-1]))
	require.NoError(m.t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(m.t, err)
	ctx, stop := context.WithCancel(context.Background())
	m.stop, m.done = stop, make(chan error, 1)
	go func() {
		m.done <- member.Run(ctx, member.Config{
			ID: m.id, Members: m.members, New: m.new, Data: m.data, Socket: socket, Control: listener, Writer: m.writer,
			Rand: streams, Log: log.New(m.t.Output(), fmt.Sprintf("%v: ", m.id), 0),
		})
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(m.t, err)
	m.client = member.NewClient(conn, member.Mark{}, hear)
}

func streams(purpose string) *rand.Rand { return rand.New(rand.NewPCG(1, uint64(len(purpose)))) }

// kill asks the process to end, and waits.
func (m *place) kill() {
	if m.stop == nil {
		return
	}
	m.stop()
	require.NoError(m.t, <-m.done)
	m.client.Close()
	m.stop = nil
}

func (m *place) view() history.View {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	v, err := m.client.View(ctx)
	require.NoError(m.t, err)
	return v
}

// leader waits until all members that run follow one of them, and returns it with what it said then. On a busy machine
// another may lead a moment later.
func leader(t *testing.T, all ...*place) (*place, history.View) {
	var seen []history.View
	for end := time.Now().Add(patience); time.Now().Before(end); {
		var led *place
		var claim history.View
		agreed := true
		seen = nil
		for _, m := range all {
			v := m.view()
			seen = append(seen, v)
			agreed = agreed && v.Leader != "" && v.Leader == seen[0].Leader && v.Term == seen[0].Term
			if v.Claims() {
				led, claim = m, v
			}
		}
		if agreed && led != nil {
			return led, claim
		}
	}
	require.FailNow(t, "no leader", "last seen: %v", seen)
	return nil, history.View{}
}

func TestNodesElectOverTheNetwork(t *testing.T) {
	all := cluster(t, 3, "raft-prevote")
	for _, m := range all {
		m.start(nil)
	}
	tenures := map[*place]uint64{}
	first, before := leader(t, all...)
	tenures[first] = before.Tenure
	require.NotZero(t, before.Tenure)

	first.kill()
	var rest []*place
	for _, m := range all {
		if m != first {
			rest = append(rest, m)
		}
	}
	second, after := leader(t, rest...)
	tenures[second] = after.Tenure
	require.Greater(t, after.Term, before.Term)

	rest[0].kill()
	rest[1].kill()
	second.start(nil)
	v := second.view()
	require.NotEqual(t, history.Leader, v.Role)
	require.GreaterOrEqual(t, v.Term, after.Term, "a restart keeps the term")

	first.start(nil)
	third, last := leader(t, first, second)
	require.Greater(t, last.Tenure, tenures[third], "tenures count on after a restart")
}

func TestNodeAnnouncesWhatItDoes(t *testing.T) {
	m := cluster(t, 1, "raft")[0]
	c := make(chan member.Announcement, 100)
	m.start(func(a member.Announcement) { c <- a })
	leader(t, m)
	require.Equal(t, []member.Announcement{
		{Mark: member.Mark{Life: 1, Seq: 1}, View: &history.View{Role: history.Follower}},
		{Mark: member.Mark{Life: 1, Seq: 2}, Vote: &history.Vote{Term: 1, For: "n1"}},
		{Mark: member.Mark{Life: 1, Seq: 3}, View: &history.View{Role: history.Leader, Term: 1, Leader: "n1", Tenure: 1}},
	}, []member.Announcement{<-c, <-c, <-c})
	m.kill()
	m.start(func(a member.Announcement) { c <- a })
	require.Equal(t, member.Mark{Life: 2, Seq: 1}, (<-c).Mark)
}

func TestNoiseOnTheNetworkIsHarmless(t *testing.T) {
	all := cluster(t, 3, "raft-prevote")
	stranger, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer stranger.Close()
	// A member's own address sends noise before its process takes it.
	insider, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(all[2].members[2]))
	require.NoError(t, err)
	all[0].start(nil)
	all[1].start(nil)
	_, before := leader(t, all[:2]...)
	for _, from := range []*net.UDPConn{stranger, insider} {
		for _, noise := range [][]byte{{}, {1}, []byte("noise"), make([]byte, 60_000), {1, 1, 1, 'x', 0xff}} {
			for _, m := range all[:2] {
				_, err := from.WriteToUDPAddrPort(noise, m.members[m.id-1])
				require.NoError(t, err)
			}
		}
	}
	require.NoError(t, insider.Close())
	all[2].start(nil)
	_, after := leader(t, all...)
	require.GreaterOrEqual(t, after.Term, before.Term)
}

func TestNodeWithoutItsDiskStops(t *testing.T) {
	m := cluster(t, 1, "raft")[0]
	algorithm := m.new
	m.new = func(env election.Env) election.Node {
		if err := os.RemoveAll(m.data); err != nil {
			t.Error(err)
		}
		return algorithm(env)
	}
	m.start(nil)
	err := <-m.done
	m.stop = nil
	require.ErrorContains(t, err, `node: store "vote"`)
	require.ErrorIs(t, err, os.ErrNotExist)
	<-m.client.Done()
}

func TestNodeWithoutItsListenerStops(t *testing.T) {
	m := cluster(t, 1, "raft")[0]
	socket, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(m.members[0]))
	require.NoError(t, err)
	require.NoError(t, socket.Close())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	err = member.Run(t.Context(), member.Config{
		ID: 1, Members: m.members, New: m.new, Data: filepath.Join(t.TempDir(), "data"), Socket: socket, Control: listener,
		Rand: streams, Log: log.New(t.Output(), "", 0),
	})
	require.ErrorIs(t, err, net.ErrClosed)
}

// parting is an algorithm that tells the others when it resigns: whoever hears of it leads in that term.
type parting struct {
	env    election.Env
	status election.Status
}

func (p *parting) Start() {}
func (p *parting) Receive(_ election.ID, m election.Message) {
	p.status = election.Status{Role: election.Leader, Term: m.Term, Leader: p.env.ID()}
}
func (p *parting) Expire(election.Timer)   {}
func (p *parting) Status() election.Status { return p.status }
func (p *parting) Resign()                 { p.env.Send(2, election.Message{Kind: "BYE", Term: 7}) }

func TestNodeThatIsAskedToStopResigns(t *testing.T) {
	all := cluster(t, 2, "raft")
	heard := make(chan member.Announcement, 100)
	for _, m := range all {
		m.new = func(env election.Env) election.Node { return &parting{env: env} }
		m.start(func(a member.Announcement) { heard <- a })
		m.view()
	}
	all[0].kill()
	for {
		select {
		case a := <-heard:
			if a.View.Claims() {
				require.Equal(t, uint64(7), a.View.Term)
				return
			}
		case <-time.After(patience):
			require.FailNow(t, "nobody heard of it")
		}
	}
}

// tenant leads for a while after it has started, and does nothing when that is over: its lease runs out by itself.
type tenant struct {
	silent
	env   election.Env
	until time.Duration
}

type silent struct{}

func (silent) Start()                                {}
func (silent) Receive(election.ID, election.Message) {}
func (silent) Expire(election.Timer)                 {}

func (n *tenant) Status() election.Status {
	if n.env.Now() < n.until {
		return election.Status{Role: election.Leader, Term: 1, Leader: n.env.ID()}
	}
	return election.Status{Term: 1}
}

func TestALeaseThatRanOutIsNoClaim(t *testing.T) {
	m := cluster(t, 1, "raft")[0]
	m.new = func(env election.Env) election.Node {
		return &tenant{env: env, until: env.Now() + 200*time.Millisecond}
	}
	m.start(nil)
	require.Eventually(t, func() bool { return m.view().Role == history.Follower }, patience, time.Millisecond)
}

// A message may be one of an earlier life: what it says of the time was read off the same clock.
func TestTheClockGoesOnFromLifeToLife(t *testing.T) {
	m := cluster(t, 1, "raft")[0]
	found, err := targets.Find("raft")
	require.NoError(t, err)
	o, err := found.Parse(nil)
	require.NoError(t, err)
	var read []time.Duration
	m.new = func(env election.Env) election.Node {
		read = append(read, env.Now())
		return found.Node(o, env)
	}
	for range 2 {
		m.start(nil)
		m.view()
		m.kill()
	}
	require.Greater(t, read[1], read[0])
}
