package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
)

// fragile is a beacon that panics in a method once it has sent so many.
type fragile struct {
	*beacon
	in string
	at uint64
}

func (f *fragile) breaks(in string) {
	if f.in == in && f.sent >= f.at && f.env.ID() == 1 {
		panic("out of order")
	}
}

func (f *fragile) Start() { f.beacon.Start(); f.breaks("start") }
func (f *fragile) Receive(from election.ID, m election.Message) {
	f.breaks("receive")
	f.beacon.Receive(from, m)
}
func (f *fragile) Expire(t election.Timer) { f.breaks("expire"); f.beacon.Expire(t) }
func (f *fragile) Resign()                 { f.breaks("resign") }
func (f *fragile) Membership(election.ID) election.Membership {
	f.breaks("membership")
	return election.Voter
}
func (f *fragile) Reconfigure(election.ID, election.Membership, func(uint64)) error {
	return election.ErrRefused
}

func (f *fragile) Status() election.Status {
	f.breaks("status")
	return f.beacon.Status()
}

// fragiles is a cluster of two, the first of which panics in a method.
func fragiles(t *testing.T, in string, at uint64) (c *Cluster, codes *[]int) {
	c, err := New(Config{Nodes: 2, Seed: 1, New: func(env election.Env) election.Node {
		return &fragile{&beacon{env: env}, in, at}
	}})
	require.NoError(t, err)
	codes = &[]int{}
	c.OnExit(func(node string, code int) {
		require.Equal(t, "n1", node)
		*codes = append(*codes, code)
	})
	c.Start()
	return c, codes
}

func TestAnAlgorithmThatPanicsEndsItsProcess(t *testing.T) {
	wrote := func(in string) string {
		c, codes := fragiles(t, in, 3)
		if in == "start" { // of the next life
			run(t, c, time.Second)
			impose(t, c, proc("n1", history.Down))
			impose(t, c, proc("n1", history.Up)) // outside of Run
		}
		run(t, c, time.Second)
		switch in {
		case "resign":
			impose(t, c, proc("n1", history.Stopped))
		case "membership":
			_, err := c.Membership("n1", 2)
			require.ErrorIs(t, err, errDown)
		}
		require.Equal(t, []int{panicStatus}, *codes, in)
		sent := c.nodes[1].impl.(*fragile).sent
		run(t, c, time.Second)
		require.Greater(t, c.nodes[1].impl.(*fragile).sent, sent, "%s: others go on", in)
		return string(c.Wrote()["n1"])
	}
	for _, in := range []string{"start", "receive", "expire", "status", "resign", "membership"} {
		log := wrote(in)
		require.Regexp(t, `^panic: out of order\n\trecount/sim\.\(\*fragile\)\.breaks, panicked_test\.go:\d+\n`, log, in)
		require.Equal(t, log, wrote(in), "the same again")
	}
}

func TestAProcessThatPanickedStartsAgain(t *testing.T) {
	c, codes := fragiles(t, "receive", 3)
	run(t, c, time.Second)
	require.Len(t, *codes, 1)
	require.Equal(t, proc("n1", history.Down).Procs, c.State().Procs)
	impose(t, c, proc("n1", history.Up))
	require.True(t, c.State().Empty())
	run(t, c, time.Second)
	require.Len(t, *codes, 2, "it stored how many it had sent")
}

// Where its disk is ill, or a trap is set, it is called in another way.
func TestAnAlgorithmPanicsWhileItsDiskIsIll(t *testing.T) {
	c, codes := fragiles(t, "receive", 3)
	impose(t, c, diskOf("n1", history.DiskState{Slow: time.Millisecond}))
	run(t, c, time.Second)
	require.Equal(t, []int{panicStatus}, *codes)
}

type astray struct{ *beacon }

func (l astray) Expire(election.Timer) { l.env.Send(99, election.Message{}) }

func TestAMessageToNobodyIsTheAlgorithmsMistake(t *testing.T) {
	c, err := New(Config{Nodes: 2, Seed: 1, New: func(env election.Env) election.Node { return astray{&beacon{env: env}} }})
	require.NoError(t, err)
	c.Start()
	run(t, c, time.Second)
	require.Contains(t, string(c.Wrote()["n2"]), "n2 sends  to a node 99 that does not exist")
}

type voter struct{ *beacon }

func (v voter) Expire(election.Timer) { v.env.Granted(1, 1) }

// What is told of an algorithm in the middle of its methods may have mistakes of its own.
func TestWhoListensMayPanicToo(t *testing.T) {
	c, err := New(Config{Nodes: 2, Seed: 1, New: func(env election.Env) election.Node { return voter{&beacon{env: env}} }})
	require.NoError(t, err)
	c.OnGranted(func(string, history.Vote) { panic("of the harness") })
	c.Start()
	require.PanicsWithValue(t, "of the harness", func() { run(t, c, time.Second) })
	require.Empty(t, c.Wrote())
}
