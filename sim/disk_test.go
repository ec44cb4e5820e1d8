package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
)

func diskOf(node string, s history.DiskState) history.Changes {
	return history.Changes{Disks: []history.Disk{{Node: node, DiskState: s}}}
}

// exits notes which processes end by themselves.
func exits(c *Cluster) *[]string {
	var all []string
	c.OnExit(func(node string, code int) {
		if code == DiskStatus {
			all = append(all, node)
		}
	})
	return &all
}

func TestADiskThatFailsEndsTheProcess(t *testing.T) {
	for what, s := range map[string]history.DiskState{
		"full": {Full: true}, "write": {WriteErrors: 1}, "sync": {SyncErrors: 1},
	} {
		c, lives := beacons(t, 2)
		ended := exits(c)
		impose(t, c, diskOf("n1", s))
		require.Equal(t, diskOf("n1", s), c.State())
		require.Empty(t, *ended, "%s: it asks nothing of its disk", what)
		run(t, c, time.Second)
		require.Equal(t, []string{"n1"}, *ended, what)
		require.Len(t, lives[1], 1, what)
		require.Equal(t, proc("n1", history.Down).Procs, c.State().Procs, what)

		impose(t, c, proc("n1", history.Up))
		run(t, c, 2*time.Second)
		require.Len(t, *ended, 2, "%s: as long as it fails", what)
		ch := diskOf("n1", history.DiskState{})
		ch.Procs = proc("n1", history.Up).Procs
		for range 2 { // to heal twice does no harm
			impose(t, c, ch)
			run(t, c, 2*time.Second)
			require.True(t, c.State().Empty(), what)
			require.Len(t, *ended, 2, what)
		}
		require.Len(t, lives[1], 3, what)
	}
}

func TestADiskThatCannotBeReadLetsNothingStart(t *testing.T) {
	c, lives := beacons(t, 2)
	ended := exits(c)
	impose(t, c, diskOf("n1", history.DiskState{ReadErrors: 1}))
	run(t, c, time.Second)
	require.Empty(t, *ended, "it has read already")
	impose(t, c, proc("n1", history.Down))
	impose(t, c, proc("n1", history.Paused))
	require.Equal(t, []string{"n1"}, *ended)
	require.Equal(t, history.Down, c.State().Procs[0].State)
	require.Len(t, lives[1], 2)
}

func TestSomeOperationsFail(t *testing.T) {
	c, _ := beacons(t, 2)
	ended := exits(c)
	impose(t, c, diskOf("n1", history.DiskState{WriteErrors: 0.25}))
	for range 1000 {
		run(t, c, 150*time.Millisecond)
		impose(t, c, proc("n1", history.Up))
	}
	require.InDelta(t, 250, len(*ended), 125)
}

func TestAFailedSyncIsNotMadeUpFor(t *testing.T) {
	c, _ := beacons(t, 1)
	n := &c.nodes[0]
	n.Store("a", []byte{1})
	impose(t, c, diskOf("n1", history.DiskState{SyncErrors: 1}))
	n.guarded(n.Sync)
	impose(t, c, diskOf("n1", history.DiskState{}))
	impose(t, c, proc("n1", history.Up))
	require.Equal(t, []byte{1}, n.Load("a"), "it is in memory still")
	n.Store("b", []byte{2})
	n.Sync()
	impose(t, c, proc("n1", history.Crashed))
	require.Nil(t, n.Load("a"))
	require.Equal(t, []byte{2}, n.Load("b"))
}

func TestAWipedDiskIsEmpty(t *testing.T) {
	c, lives := beacons(t, 2)
	run(t, c, time.Second)
	ch := diskOf("n1", history.DiskState{Wiped: true})
	ch.Procs = proc("n1", history.Crashed).Procs
	impose(t, c, ch)
	require.Equal(t, ch, c.State())
	heal := diskOf("n1", history.DiskState{})
	heal.Procs = proc("n1", history.Up).Procs
	impose(t, c, heal)
	require.Zero(t, lives[1][1].sent)
	run(t, c, 1500*time.Millisecond)
	impose(t, c, diskOf("n1", history.DiskState{}))
	impose(t, c, proc("n1", history.Crashed))
	impose(t, c, proc("n1", history.Up))
	require.Equal(t, uint64(10), lives[1][2].sent, "what is written after it is kept")
}

// On a slow disk a beacon's every tenth message, and whatever comes after it, waits for the sync before it.
func TestASlowDiskKeepsTheProcessWaiting(t *testing.T) {
	c, lives := beacons(t, 2)
	require.Equal(t, uint64(9), lives[1][0].sent)
	const slow = 350 * time.Millisecond
	impose(t, c, diskOf("n1", history.DiskState{Slow: slow}))
	var answers []history.View
	c.OnAnnounce(func(node string, v history.View) {
		if node == "n1" {
			answers = append(answers, v)
		}
	})
	run(t, c, 300*time.Millisecond)
	require.Len(t, lives[1][0].from(2), 9, "it reads nothing meanwhile")
	require.Len(t, lives[2][0].from(1), 9, "and sends nothing")
	require.Empty(t, answers, "nor is it heard of")
	asked := false
	c.Observe("n1", func(v history.View, err error) {
		require.NoError(t, err)
		require.Equal(t, uint64(10), v.Term)
		asked = true
	})
	run(t, c, 50*time.Millisecond)
	require.False(t, asked)
	run(t, c, 50*time.Millisecond)
	require.True(t, asked)
	require.Len(t, answers, 1)
	require.Len(t, lives[2][0].from(1), 10)
	require.Greater(t, len(lives[1][0].from(2)), 11, "what came meanwhile")
	got := lives[1][0].got
	for i := range got[1:] {
		require.LessOrEqual(t, got[i].n, got[i+1].n, "in the order in which it came")
	}
}

func TestAProcessThatDiesWaitingForItsDiskSaysNothingMore(t *testing.T) {
	c, lives := beacons(t, 2)
	impose(t, c, diskOf("n1", history.DiskState{Slow: 300 * time.Millisecond}))
	run(t, c, 150*time.Millisecond)
	impose(t, c, proc("n1", history.Down))
	run(t, c, time.Second)
	require.Len(t, lives[2][0].from(1), 9)

	impose(t, c, proc("n1", history.Up))
	require.Equal(t, election.ID(1), lives[1][1].env.ID())
	run(t, c, time.Second+time.Millisecond*150)
	impose(t, c, proc("n1", history.Paused))
	before := len(lives[2][0].from(1))
	run(t, c, time.Second)
	require.LessOrEqual(t, len(lives[2][0].from(1)), before+1, "one that is paused does not go on either")
}
