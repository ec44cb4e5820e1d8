//go:build linux

package agent

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"recount/history"
)

// twoPlaces is an agent with two nodes that are nothing but network namespaces, joined by a wire, with an address of
// either family each.
func twoPlaces(t *testing.T) *agent {
	if os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("needs root")
		}
		t.Skip("needs root, to make network namespaces")
	}
	home, err := os.Open("/proc/self/ns/net")
	require.NoError(t, err)
	a := &agent{home: home, places: map[string]*place{}, traps: newTraps()}
	var files [2]*os.File
	runtime.LockOSThread()
	for i := range files {
		made, err := netns.New()
		require.NoError(t, err)
		files[i] = os.NewFile(uintptr(made), "namespace")
	}
	require.NoError(t, netns.Set(netns.NsHandle(home.Fd())))
	runtime.UnlockOSThread()
	var handles [2]*netlink.Handle
	for i := range handles {
		handles[i], err = netlink.NewHandleAt(netns.NsHandle(files[i].Fd()))
		require.NoError(t, err)
		t.Cleanup(handles[i].Close)
	}
	wire := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "eth0"}, PeerName: "eth0", PeerNamespace: netlink.NsFd(files[1].Fd())}
	require.NoError(t, handles[0].LinkAdd(wire))
	packets := rand.New(rand.NewPCG(1, 2))
	for i, h := range handles {
		for _, name := range []string{"lo", "eth0"} {
			l, err := h.LinkByName(name)
			require.NoError(t, err)
			require.NoError(t, h.LinkSetUp(l))
		}
		l, err := h.LinkByName("eth0")
		require.NoError(t, err)
		p := Place{Node: fmt.Sprintf("n%d", i+1)}
		for _, text := range []string{"10.9.8.%d/24", "fd00::%d/64"} {
			addr, err := netlink.ParseAddr(fmt.Sprintf(text, i+1))
			require.NoError(t, err)
			addr.Flags = 0x02 // no duplicate address detection
			require.NoError(t, h.AddrAdd(l, addr))
			own, _ := netip.AddrFromSlice(addr.IP)
			p.Addrs = append(p.Addrs, own.Unmap())
		}
		s, err := openNamespace(home, fmt.Sprintf("/proc/self/fd/%d", files[i].Fd()))
		require.NoError(t, err)
		require.NoError(t, a.settle(p, s, packets, first{}, func([]byte, func()) fate { return goesOn }))
		filter := a.places[p.Node].filter
		t.Cleanup(func() { filter.remove(t) })
		require.Empty(t, filter.means.Missing)
		t.Logf("packets are delayed by the %s", filter.means.Delay)
	}
	return a
}

// remove removes all traces of a filter, which otherwise go with the namespace and the agent's process.
func (f *filter) remove(t *testing.T) {
	for _, fam := range f.families {
		f.conn.DelTable(fam.table)
	}
	require.NoError(t, f.conn.Flush())
	if f.delays != nil {
		f.delays.end()
		f.delays.socket.Close()
	}
	f.conn.CloseLasting()
}

func link(from, to string, port int, s history.LinkState) history.Link {
	return history.Link{From: from, To: to, Port: port, LinkState: s}
}

// impose applies link states and looks at them, and expects that nothing is wrong.
func (a *agent) impose(t *testing.T, links ...history.Link) {
	t.Helper()
	done, err := a.apply(Apply{Changes: history.Changes{Links: links}})
	require.NoError(t, err)
	require.Empty(t, done.Errors)
	var v *Verified
	for try := 0; try == 0 || try < 4 && len(v.Wrong)+len(v.Unsure) > 0; try++ { // a machine that stands still has packets late
		v, err = a.verify(Verify{Changes: history.Changes{Links: links}, Within: 5 * time.Second})
		require.NoError(t, err)
	}
	require.Empty(t, v.Wrong)
	require.Empty(t, v.Unsure)
}

// arriving bounds how long datagrams may take that must arrive.
const arriving = 30 * time.Second

// arrived is how long to wait for those that arrive of datagrams of which not all do: it is waited for to the end.
const arrived = 10 * time.Second

// measured is what becomes of datagrams that the test itself sends from n1 to n2 at an address family.
func (a *agent) measured(t *testing.T, family int, from uint16, count int, wait time.Duration) *sample {
	t.Helper()
	got, err := send([]probe{{
		from: a.places["n1"], to: a.places["n2"], family: family, port: from, count: count, every: time.Millisecond, size: 64, wait: wait,
	}})
	require.NoError(t, err)
	return &got[0]
}

func TestEachLinkStateIsImposedAndHealed(t *testing.T) {
	a := twoPlaces(t)
	const ms = time.Millisecond
	for name, s := range map[string]history.LinkState{
		"cut":       {Cut: true},
		"loss":      {Loss: 0.3},
		"all lost":  {Loss: 1},
		"delay":     {Delay: 50 * ms},
		"jitter":    {Delay: 50 * ms, Jitter: 20 * ms},
		"reorder":   {Delay: 50 * ms, Reorder: 0.25},
		"duplicate": {Duplicate: 0.3},
		"doubled":   {Duplicate: 1},
		"rate":      {Rate: 256_000},
		"reset":     {Reset: true},
		"all":       {Loss: 0.2, Delay: 40 * ms, Jitter: 10 * ms, Reorder: 0.1, Duplicate: 0.2, Rate: 256_000, Reset: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, port := range []int{0, 2380} {
				a.impose(t, link("n1", "n2", port, s))
				state, err := a.read()
				require.NoError(t, err)
				require.Equal(t, []history.Link{link("n1", "n2", port, s)}, state.Links)
				for family := range 2 {
					got := a.measured(t, family, 2380, 200, time.Second)
					d := got.known()
					if len(d) == 0 {
						d = []time.Duration{0}
					}
					t.Logf("port %d family %d: lost %d twice %d overtaken %d of 200; %v to %v, middle %v",
						port, family, 200-got.arrived, got.twice, got.overtaken(), d[0], d[len(d)-1], d[len(d)/2])
					if port != 0 {
						require.Equal(t, 200, a.measured(t, family, 2379, 200, arriving).arrived, "another port")
					}
				}
				a.impose(t, link("n1", "n2", port, history.LinkState{}))
				a.impose(t, link("n1", "n2", port, history.LinkState{})) // once more does no harm
				state, err = a.read()
				require.NoError(t, err)
				require.Empty(t, state.Links)
				for family := range 2 {
					got := a.measured(t, family, 0, 100, arriving)
					require.Equal(t, 100, got.arrived)
					require.Zero(t, got.twice)
				}
			}
		})
	}
}

func TestStatesOfALinkAndOfItsPortAddUp(t *testing.T) {
	a := twoPlaces(t)
	const ms = time.Millisecond
	a.impose(t, link("n1", "n2", 0, history.LinkState{Delay: 20 * ms}))
	a.impose(t, link("n1", "n2", 7000, history.LinkState{Delay: 30 * ms, Loss: 0.5}))
	got := a.measured(t, 0, 7000, 200, arrived)
	require.GreaterOrEqual(t, got.known()[0], 49*ms)
	require.Less(t, got.arrived, 150)
	got = a.measured(t, 0, 7001, 200, arriving)
	require.Equal(t, 200, got.arrived)
	for tries := 1; got.known()[0] >= 49*ms && tries < 100; tries++ { // a busy machine delays by itself
		got = a.measured(t, 0, 7001, 200, arriving)
	}
	require.Less(t, got.known()[0], 49*ms)
	a.impose(t, link("n1", "n2", 0, history.LinkState{}))
	require.GreaterOrEqual(t, a.measured(t, 1, 7000, 50, arrived).known()[0], 29*ms)
	a.impose(t, link("n1", "n2", 7000, history.LinkState{}))
}

func TestAConnectionIsReset(t *testing.T) {
	a := twoPlaces(t)
	for family := range 2 {
		var l net.Listener
		require.NoError(t, a.places["n2"].space.do(func() (err error) {
			l, err = net.Listen("tcp", net.JoinHostPort(a.places["n2"].addrs[family].String(), "0"))
			return err
		}))
		defer l.Close()
		var conn net.Conn
		require.NoError(t, a.places["n1"].space.do(func() (err error) {
			conn, err = net.Dial("tcp", l.Addr().String())
			return err
		}))
		defer conn.Close()
		server, err := l.Accept()
		require.NoError(t, err)
		defer server.Close()
		a.impose(t, link("n1", "n2", 0, history.LinkState{Reset: true}))
		_, err = conn.Write([]byte("hello"))
		require.NoError(t, err)
		conn.SetDeadline(time.Now().Add(arriving))
		_, err = conn.Read(make([]byte, 1))
		require.ErrorContains(t, err, "reset", "the sender learns of it")
		_, err = server.Write([]byte("hello"))
		require.NoError(t, err)
		server.SetDeadline(time.Now().Add(arriving))
		_, err = server.Read(make([]byte, 1))
		require.ErrorContains(t, err, "reset", "and the receiver, once it speaks")
		a.impose(t, link("n1", "n2", 0, history.LinkState{}))
	}
}

func TestALinkThatDoesNotDoWhatItShouldIsSeen(t *testing.T) {
	a := twoPlaces(t)
	a.impose(t, link("n1", "n2", 0, history.LinkState{Delay: 30 * time.Millisecond, Loss: 0.3}))
	for _, s := range []history.LinkState{
		{}, {Cut: true}, {Loss: 0.9}, {Delay: time.Second}, {Rate: 10_000}, {Duplicate: 0.5}, {Reset: true},
	} {
		v, err := a.verify(Verify{Changes: history.Changes{Links: []history.Link{link("n1", "n2", 0, s)}}, Within: time.Second})
		require.NoError(t, err)
		require.NotEmpty(t, v.Wrong, "%+v", s)
		t.Log(v.Wrong)
	}
	a.impose(t, link("n1", "n2", 0, history.LinkState{}))
}
