package virtual

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/internal/hint"
	"recount/virtual/tcp"
	"recount/virtual/wire"
)

func trapped(t *testing.T, all ...history.State) *Cluster {
	c, err := Open(Config{Nodes: []string{"n1", "n2"}, Seed: 1, Disks: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(context.Background())) })
	c.Apply(history.ChangesOf(all...), func(e history.Effect) { require.NoError(t, e.Err) })
	return c
}

// ear is a program that reads all that it is sent.
type ear struct{ heard map[uint16]string }

func (e *ear) Accepted(*tcp.Listener, *tcp.Conn) {}
func (e *ear) Connected(*tcp.Conn)               {}
func (e *ear) Ended(*tcp.Conn)                   {}
func (e *ear) Acked(*tcp.Conn, int)              {}
func (e *ear) Failed(*tcp.Conn, syscall.Errno)   {}
func (e *ear) Arrived(c *tcp.Conn, p []byte) {
	c.Read(len(p))
	e.heard[c.Remote().Port()] += string(p)
}

// What is sent later over a connection of which a packet is held does not overtake it; other connections go on.
func TestAPacketThatIsHeldHoldsItsConnection(t *testing.T) {
	trap := history.Trap{Node: "n1", ID: 1, TrapState: history.TrapState{Do: history.Hold, To: "n2", Pass: 1, Until: "5s"}}
	c := trapped(t, trap)
	sprung := 0
	c.OnSprung(func(id int, what string, _ history.Changes) {
		sprung++
		require.Equal(t, "connection of port 80 from byte 2 on n1→n2 held", what)
	})
	from, to, e := c.nodes[0], c.nodes[1], &ear{map[uint16]string{}}
	require.NotNil(t, to.tcp.Listen(e, 1, netip.AddrPortFrom(to.addr, 80), 8, false))
	run := func(until time.Duration) { require.NoError(t, c.Run(t.Context(), until)) }
	connect := func(port uint16) *tcp.Conn {
		return from.tcp.Connect(e, 0, netip.AddrPortFrom(from.addr, port), netip.AddrPortFrom(to.addr, 80))
	}
	one, other := connect(1001), connect(1002)
	run(time.Second)
	one.Write([]byte("a"))
	run(2 * time.Second)
	one.Write([]byte("b"))
	run(3 * time.Second)
	one.Write([]byte("c"))
	other.Write([]byte("d"))
	run(6900 * time.Millisecond)
	require.Equal(t, map[uint16]string{1001: "a", 1002: "d"}, e.heard)
	s, err := c.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, []history.State{trap}, s.More[history.Traps])
	run(8 * time.Second)
	require.Equal(t, map[uint16]string{1001: "abc", 1002: "d"}, e.heard)
	require.Equal(t, 1, sprung)
}

// Of what a process did after the place where it ends, nothing is kept, though it is in its files.
func TestWhatATrapCutsOffWasNotDone(t *testing.T) {
	c := trapped(t, history.Trap{Node: "n1", ID: 1, TrapState: history.TrapState{Do: history.Finish, On: history.Receives, Effect: 2}})
	n := c.nodes[0]
	require.NoError(t, n.furnish())
	p := newProcOf(n, 0)
	file := func(kind byte, data string) {
		p.trapped(wire.Message{Type: wire.File, Data: wire.AppendChange(nil, wire.Change{Kind: kind, Path: "/tmp/x", File: 1, Data: []byte(data)})})
	}
	n.received(n.addr)
	file(wire.Create, "")
	require.Nil(t, n.doomed, "what it tells itself does not count")
	n.received(c.nodes[1].addr)
	file(wire.Hold, "")
	require.Equal(t, 2, n.left, "to open a file changes nothing")
	file(wire.Write, "one")
	file(wire.Sync, "")
	require.False(t, n.torn)
	file(wire.Write, "two")
	require.True(t, n.torn)
	file(wire.Sync, "")
	require.NoError(t, os.WriteFile(filepath.Join(n.root, "tmp", "x"), []byte("two"), 0o644))
	require.NoError(t, n.mirror.Put(n.root))
	text, err := os.ReadFile(filepath.Join(n.root, "tmp", "x"))
	require.NoError(t, err)
	require.Equal(t, "one", string(text))
}

func TestTrapsThatAreRefused(t *testing.T) {
	c := trapped(t)
	for words, s := range map[string]history.TrapState{
		"use kind any":        {Do: history.Hold, Kind: "vote", Until: history.UntilHeal},
		"use receive or send": {Do: history.Finish, On: history.Leads},
		"use hold-message":    {Do: history.Lose},
		"nobody knows when":   {Do: history.Hold, Until: "pong"},
		`unknown node "n7"`:   {Do: history.Hold, To: "n7", Until: history.UntilHeal},
	} {
		err := c.Can(history.ChangesOf(history.Trap{Node: "n1", ID: 1, TrapState: s}))
		require.Contains(t, err.Error()+"; "+hint.Of(err), words)
	}
}
