package docker

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

func clocks(all ...history.Clock) history.Changes { return history.Changes{Clocks: all} }

// openReady opens a cluster of n members whose clocks are made ready.
func openReady(t testing.TB, e *Engine, n int) *Cluster {
	t.Helper()
	c := open(t, e, runID(t), n)
	c.config.Clocks = true
	launch(t, c)
	return c
}

// adjusted is how much the machine may correct its own wall clock during one question without its being noticed.
const adjusted = 2 * time.Millisecond

// wall is by how much the wall clock of the member on a node is wrong, as it says itself, and how far that may be out.
// Where the machine's own wall clock was set meanwhile, the question is asked again.
func wall(t testing.TB, c *Cluster, node string) (wrong, accuracy time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(within); ; {
		before := time.Now()
		told, _ := clock(t, c, node)
		after := time.Now()
		accuracy = after.Sub(before)
		if set := after.Round(0).Sub(before.Round(0)) - accuracy; set.Abs() < adjusted || after.After(deadline) {
			return told.Sub(before), accuracy + adjusted
		}
	}
}

func clock(t testing.TB, c *Cluster, node string) (wall time.Time, lived time.Duration) {
	t.Helper()
	var a, b int64
	_, err := fmt.Sscan(tell(t, c, node, "clock"), &a, &b)
	require.NoError(t, err)
	return time.Unix(0, a), time.Duration(b)
}

func requireWall(t testing.TB, c *Cluster, node string, want time.Duration) {
	t.Helper()
	wrong, accuracy := wall(t, c, node)
	require.GreaterOrEqual(t, wrong, want-adjusted)
	require.LessOrEqual(t, wrong, want+accuracy)
}

// readings reads the clocks of all nodes, as the agent has it.
func readings(t testing.TB, c *Cluster) (all map[string]history.Reading) {
	t.Helper()
	read := false
	c.ReadClocks(func(r map[string]history.Reading) { all, read = r, true })
	run(t, c, func() bool { return read })
	return all
}

func requireState(t testing.TB, c *Cluster, want history.Changes) {
	t.Helper()
	state, err := c.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, state)
}

func TestClocksJump(t *testing.T) {
	c := openReady(t, engine(t), 3)
	run(t, c, func() bool { return len(readings(t, c)) == 3 })
	require.Equal(t, map[string]history.Reading{"n1": {}, "n2": {}, "n3": {}}, readings(t, c))
	for _, by := range []time.Duration{30 * time.Second, -time.Hour} {
		change := clocks(history.Clock{Node: "n1", Offset: by})
		requireSeen(t, c, change)
		requireSeen(t, c, change) // a change is to a state
		requireWall(t, c, "n1", by)
		requireWall(t, c, "n2", 0)
		require.Equal(t, history.Reading{Wall: by}, readings(t, c)["n1"])
		requireState(t, c, change)
	}
	e := requireSeen(t, c, clocks(history.Clock{Node: "n1"}, history.Clock{Node: "n2", Offset: time.Second}, history.Clock{Node: "n3", Offset: 1}))
	t.Logf("spread over three nodes: %v", e.Spread)
	requireWall(t, c, "n1", 0)
	requireWall(t, c, "n2", time.Second)
	requireSeen(t, c, clocks(history.Clock{Node: "n2"}, history.Clock{Node: "n3"}))
	requireState(t, c, history.Changes{})
}

func TestClocksDrift(t *testing.T) {
	c := openReady(t, engine(t), 2)
	requireSeen(t, c, clocks(history.Clock{Node: "n1", Drift: 0.5}))
	// What passes on n2 passes within what passes on n1, and that within what the second pair of readings of n2 spans. The
	// clocks of n2 are the machine's own: nobody knows how evenly those run.
	outerWall, outer := clock(t, c, "n2")
	fromWall, from := clock(t, c, "n1")
	innerWall, inner := clock(t, c, "n2")
	run(t, c, after(c, 200*time.Millisecond))
	innerWallEnd, innerEnd := clock(t, c, "n2")
	toWall, to := clock(t, c, "n1")
	outerWallEnd, outerEnd := clock(t, c, "n2")
	halfAgain := func(passed, least, most time.Duration) {
		t.Helper()
		require.GreaterOrEqual(t, float64(passed), 1.5*float64(least)-1e3)
		require.LessOrEqual(t, float64(passed), 1.5*float64(most)+1e3)
	}
	halfAgain(toWall.Sub(fromWall), innerWallEnd.Sub(innerWall), outerWallEnd.Sub(outerWall))
	halfAgain(to-from, innerEnd-inner, outerEnd-outer)
	reading := readings(t, c)["n1"]
	require.NotZero(t, reading.Wall)
	require.Greater(t, reading.Monotonic, 50*time.Millisecond)

	requireSeen(t, c, clocks(history.Clock{Node: "n1"}))
	requireWall(t, c, "n1", 0)
	_, healed := clock(t, c, "n1")
	require.Greater(t, healed, to, "the monotonic clock never goes back")
	require.Zero(t, readings(t, c)["n1"].Wall)
	require.Zero(t, readings(t, c)["n1"].Monotonic, "it has given back what it had gained")
	requireState(t, c, history.Changes{})
}

func after(c *Cluster, d time.Duration) func() bool {
	passed := false
	c.After(d, func() { passed = true })
	return func() bool { return passed }
}

func TestSkewSurvivesTheProcess(t *testing.T) {
	c := open(t, engine(t), runID(t), 1)
	node := memberContainer(c)
	node.Sidecars = []Container{{Image: c.config.SelfImage, Command: []string{SelfPath, "idle"}}}
	require.NoError(t, c.Launch(t.Context(), map[string]Container{"n1": node}))
	eventually(t, c, "n1")
	require.Empty(t, readings(t, c), "nothing was made ready")
	requireSeen(t, c, clocks(history.Clock{Node: "n1", Offset: time.Minute}))
	tell(t, c, "n1", "beat 127.0.0.1:7000") // a child, which is another program
	requireSeen(t, c, clocks(history.Clock{Node: "n1", Offset: time.Hour}))
	requireSeen(t, c, proc("n1", history.Down))
	require.Empty(t, readings(t, c), "the dead tell no time")
	requireState(t, c, history.Changes{Procs: proc("n1", history.Down).Procs, Clocks: clocks(history.Clock{Node: "n1", Offset: time.Hour}).Clocks})
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")
	require.Eventually(t, func() bool {
		wrong, _ := wall(t, c, "n1")
		return wrong >= time.Hour
	}, within, time.Millisecond)
	requireSeen(t, c, clocks(history.Clock{Node: "n1"}))
	requireWall(t, c, "n1", 0)
}

func TestAPausedNodeIsSkewed(t *testing.T) {
	c := openReady(t, engine(t), 1)
	requireSeen(t, c, proc("n1", history.Paused))
	requireSeen(t, c, clocks(history.Clock{Node: "n1", Offset: time.Minute}))
	require.Equal(t, time.Minute, readings(t, c)["n1"].Wall)
	requireState(t, c, history.Changes{Procs: proc("n1", history.Paused).Procs, Clocks: clocks(history.Clock{Node: "n1", Offset: time.Minute}).Clocks})
	requireSeen(t, c, proc("n1", history.Up))
	requireWall(t, c, "n1", time.Minute)
}

// A frozen process cannot be looked at, but its clocks are data.
func TestAFrozenNodeIsSkewedUnseen(t *testing.T) {
	c := openReady(t, engine(t), 1)
	run(t, c, func() bool { return len(readings(t, c)) == 1 })
	requireSeen(t, c, proc("n1", history.Frozen))
	e := apply(t, c, clocks(history.Clock{Node: "n1", Offset: time.Minute}))
	require.Equal(t, history.Info, e.Seen)
	require.ErrorContains(t, e.Err, "is it frozen?")
	requireSeen(t, c, proc("n1", history.Up))
	requireWall(t, c, "n1", time.Minute)
	requireSeen(t, c, clocks(history.Clock{Node: "n1"}))
}

func TestADeadNodeTellsNoTime(t *testing.T) {
	c := openReady(t, engine(t), 1)
	requireSeen(t, c, proc("n1", history.Down))
	e := apply(t, c, clocks(history.Clock{Node: "n1", Offset: time.Minute}))
	require.Equal(t, history.Info, e.Seen, "%v", e.Err)
	require.ErrorContains(t, e.Err, "n1: runs no process that could tell the time")
	requireSeen(t, c, clocks(history.Clock{Node: "n1"}))
}
