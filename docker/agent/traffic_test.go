//go:build linux

package agent

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// counted is what the kernel has counted from n1 to n2.
func (a *agent) counted(t *testing.T) Traffic {
	t.Helper()
	all, err := a.traffic()
	require.NoError(t, err)
	require.Len(t, all, 2)
	for _, one := range all {
		if one.From == "n1" {
			require.Equal(t, "n2", one.To)
			return one
		}
	}
	t.Fatal("nothing of n1")
	return Traffic{}
}

func TestWhatNodesSendEachOtherIsCounted(t *testing.T) {
	a := twoPlaces(t)
	one, two := a.places["n1"], a.places["n2"]
	all := []Place{{Node: "n1", Addrs: one.addrs}, {Node: "n2", Addrs: two.addrs}}
	for _, p := range []*place{one, two} {
		require.NoError(t, p.count(all))
		t.Cleanup(func() { require.NoError(t, p.counters.conn.CloseLasting()) })
	}
	a.impose(t) // whose probes count for nothing
	_, err := send([]probe{{from: one, to: two, count: 10, size: 64}})
	require.NoError(t, err)
	require.Equal(t, Traffic{From: "n1", To: "n2"}, a.counted(t))

	for family := range two.addrs {
		before := a.counted(t)
		var l net.Listener
		require.NoError(t, two.space.do(func() (err error) {
			l, err = net.ListenTCP("tcp", &net.TCPAddr{IP: two.addrs[family].AsSlice()})
			return err
		}))
		var conn net.Conn
		require.NoError(t, one.space.do(func() (err error) { conn, err = net.Dial("tcp", l.Addr().String()); return err }))
		accepted, err := l.Accept()
		require.NoError(t, err)
		_, err = conn.Write(make([]byte, 5000))
		require.NoError(t, err)
		_, err = io.ReadFull(accepted, make([]byte, 5000))
		require.NoError(t, err)
		is := a.counted(t)
		require.Greater(t, is.Left.Bytes-before.Left.Bytes, uint64(5000))
		require.Less(t, is.Left.Bytes-before.Left.Bytes, uint64(7000))
		require.Greater(t, is.Came.Bytes-before.Came.Bytes, uint64(5000))
		require.Equal(t, []Connection{{
			Local: uint16(conn.LocalAddr().(*net.TCPAddr).Port), Port: uint16(l.Addr().(*net.TCPAddr).Port),
		}}, is.Connections, "by who has made it only")

		a.impose(t, link("n1", "n2", 0, history.LinkState{Cut: true}))
		before = a.counted(t)
		_, err = conn.Write(make([]byte, 1000))
		require.NoError(t, err)
		require.Eventually(t, func() bool { return a.counted(t).Left.Bytes > before.Left.Bytes+1000 }, arriving, 10*time.Millisecond)
		is = a.counted(t)
		require.Equal(t, before.Came, is.Came, "what is cut off does not arrive")
		require.Equal(t, history.LinkState{Cut: true}, is.Link)
		a.impose(t, link("n1", "n2", 0, history.LinkState{}))
		conn.Close()
		accepted.Close()
		l.Close()
		require.Eventually(t, func() bool { return len(a.counted(t).Connections) == 0 }, arriving, 10*time.Millisecond)
	}
}
