package virtual

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/virtual/wire"
)

// Programs that are started at one instant, and seed their randomness with the time, must not all draw the same.
func TestWallClocksAreApart(t *testing.T) {
	open := func(seed uint64) (apart []time.Duration) {
		c, err := Open(Config{Nodes: []string{"n1", "n2", "n3", "n4", "n5"}, Seed: seed})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, c.Close(context.Background())) })
		for _, n := range c.nodes {
			require.Less(t, n.apart, time.Millisecond)
			require.NotContains(t, apart, n.apart)
			apart = append(apart, n.apart)
		}
		return apart
	}
	first := open(1)
	require.Equal(t, first, open(1))
	require.NotEqual(t, first, open(2))
}

// What a program asks of a socket before it connects it, as by the Control of a net.Dialer, is asked of the connection.
func TestOptionsBeforeAConnection(t *testing.T) {
	c, err := Open(Config{Nodes: []string{"n1", "n2"}, Seed: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(context.Background())) })
	n := c.nodes[0]
	p := newProcOf(n, 0)
	const socket = 7
	option := wire.Put64(wire.Put32(nil, wire.UserTimeout), uint64(2*time.Second))
	p.did(wire.Message{Type: wire.Option, Socket: socket, Data: option})
	clear(option) // its memory is the process's
	to := wire.AppendAddr(nil, wired(netip.AddrPortFrom(c.nodes[1].addr, 80)))
	p.did(wire.Message{Type: wire.Connect, Socket: socket, Data: wire.AppendAddr(to, wired(netip.AddrPortFrom(n.addr, 0)))})
	c.nodes[1].off = true
	require.NoError(t, c.Run(t.Context(), time.Second))
	require.Empty(t, p.inbox)
	require.NoError(t, c.Run(t.Context(), 4*time.Second))
	require.Len(t, p.inbox, 1)
	require.EqualValues(t, wire.Failed, p.inbox[0].Type, "it gives up in time")
	require.Empty(t, p.early)
}

func TestClosingTwice(t *testing.T) {
	c, err := Open(Config{Nodes: []string{"n1"}, Seed: 1})
	require.NoError(t, err)
	require.NoError(t, c.Close(context.Background()))
	require.NoFileExists(t, c.folder.Name())
	require.NoError(t, c.Close(context.Background()))
}

// A client gets a port that no other has, also when all have been given out once.
func TestPortsOfClientsInUse(t *testing.T) {
	c, err := Open(Config{Nodes: []string{"n1"}, Seed: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(context.Background())) })
	connect := func() *conn {
		k := &conn{k: c.clients, node: c.nodes[0], changed: make(chan struct{})}
		k.connect(80)
		require.NotNil(t, k.tcp)
		return k
	}
	first, second := connect(), connect()
	c.clients.ports = first.from.Port() - 1
	third := connect()
	require.Equal(t, second.from.Port()+1, third.from.Port())
	c.clients.ports = 1<<16 - 1
	require.EqualValues(t, firstClientPort, connect().from.Port(), "over the end")
}

func TestChangesThatAreRefused(t *testing.T) {
	c := trapped(t)
	for words, s := range map[string]history.State{
		`unknown node "n7"`:              history.Link{From: "n1", To: "n7"},
		"no link n1→n1":                  history.Link{From: "n1", To: "n1"},
		`unknown node "n8"`:              history.Disk{Node: "n8"},
		"the clients are not among":      history.Client{Node: "n1", Cut: true},
		"clock of n2 cannot drift by -1": history.Clock{Node: "n2", Drift: -1},
		`of n2 cannot be "asleep"`:       history.Proc{Node: "n2", State: "asleep"},
		"members cannot be changed":      history.Member{Node: "n1", As: history.Removed},
		"parts cannot be changed":        history.Part{Node: "n1", Process: "x", State: history.Down},
		"memory cannot be changed":       history.Memory{Node: "n1", Bytes: 1},
	} {
		require.ErrorContains(t, c.Can(history.ChangesOf(s)), words)
	}
	require.NoError(t, c.Can(history.ChangesOf(history.CPU{Node: "n1", Share: 0.5}, history.Disk{Node: "n2"}, history.Link{From: "n1", To: "n2"})))
}
