package docker

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

func throttled(node string, share float64) history.Changes {
	return history.ChangesOf(history.CPU{Node: node, Share: share})
}

// spent is the share of a processor that a node's process has used for a second or more.
func spent(t *testing.T, c *Cluster, node string) float64 {
	t.Helper()
	used := func() time.Duration {
		ns, err := strconv.ParseInt(tell(t, c, node, "spent"), 10, 64)
		require.NoError(t, err)
		return time.Duration(ns)
	}
	began, before := time.Now(), used()
	time.Sleep(time.Second)
	return float64(used()-before) / float64(time.Since(began))
}

func TestThrottle(t *testing.T) {
	c := up(t, engine(t), runID(t), 2)
	c.OnExit(func(node string, code int) { t.Errorf("%s is said to have exited by itself", node) })
	tell(t, c, "n1", "spin")
	requireSeen(t, c, throttled("n1", 0.02))
	state, err := c.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, throttled("n1", 0.02), state)
	require.Less(t, spent(t, c, "n1"), 0.2)

	// It does not wait for its processor to die, and its next life is throttled as well.
	began := c.Now()
	requireSeen(t, c, proc("n1", history.Down))
	t.Logf("it took %v to die", c.Now()-began)
	state, err = c.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, history.ChangesOf(history.Proc{Node: "n1", State: history.Down}, history.CPU{Node: "n1", Share: 0.02}), state)
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")
	tell(t, c, "n1", "spin")
	require.Less(t, spent(t, c, "n1"), 0.2)

	requireSeen(t, c, throttled("n1", 0))
	state, err = c.State(t.Context())
	require.NoError(t, err)
	require.True(t, state.Empty(), "%+v", state)
	require.Eventually(t, func() bool { return spent(t, c, "n1") > 0.04 }, within, time.Millisecond)
}

func TestWhatIsDownIsThrottledWhenItStarts(t *testing.T) {
	c := up(t, engine(t), runID(t), 2)
	requireSeen(t, c, proc("n1", history.Down))
	e := apply(t, c, throttled("n1", 0.02))
	require.Equal(t, history.Info, e.Seen)
	require.ErrorContains(t, e.Err, "n1 is down")
	requireSeen(t, c, throttled("n1", 0))
	requireSeen(t, c, history.ChangesOf(history.Proc{Node: "n1", State: history.Up}, history.CPU{Node: "n1", Share: 0.02}))
	eventually(t, c, "n1")
	tell(t, c, "n1", "spin")
	require.Less(t, spent(t, c, "n1"), 0.2)
}
