package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

func throttled(node string, share float64) history.Changes {
	return history.ChangesOf(history.CPU{Node: node, Share: share})
}

func TestAThrottledNodeWorksAtTheBeginningOfEachPeriod(t *testing.T) {
	c, lives := beacons(t, 2)
	b := lives[1][0]
	var did []time.Duration // by n1
	c.OnAnnounce(func(node string, _ history.View) {
		if node == "n1" {
			did = append(did, c.Now())
		}
	})
	run(t, c, 33*time.Millisecond)
	impose(t, c, throttled("n1", 0.05))
	require.Equal(t, throttled("n1", 0.05), c.State())
	did = nil
	run(t, c, time.Second)
	require.GreaterOrEqual(t, len(did), 9, "a timer of each period")
	for _, at := range did {
		require.Less(t, at%history.CPUPeriod, 5*time.Millisecond)
	}
	require.GreaterOrEqual(t, len(b.from(2)), 18, "what is sent to it waits, and is not lost")
	require.Len(t, lives[1], 1, "it is the same life")

	// It is held, and paused, and goes on when neither is so any more.
	run(t, c, 50*time.Millisecond)
	impose(t, c, proc("n1", history.Paused))
	run(t, c, time.Second)
	late := len(b.got)
	impose(t, c, proc("n1", history.Up))
	run(t, c, 0)
	require.Len(t, b.got, late, "not yet: the period is not over")
	impose(t, c, throttled("n1", 0))
	run(t, c, 0)
	require.Greater(t, len(b.got), late+8, "all that has waited, at once")
	require.True(t, c.State().Empty())
}

func TestAThrottledNodeThatDiesLeavesNothingWaiting(t *testing.T) {
	c, lives := beacons(t, 2)
	run(t, c, 33*time.Millisecond)
	impose(t, c, throttled("n1", 0.01))
	run(t, c, 30*time.Millisecond)
	c.Observe("n1", func(_ history.View, err error) { require.ErrorIs(t, err, errDown) })
	run(t, c, 5*time.Millisecond)
	impose(t, c, proc("n1", history.Down))
	run(t, c, 5*time.Millisecond)
	impose(t, c, proc("n1", history.Up))
	run(t, c, time.Second)
	require.Len(t, lives[1], 2)
	require.NotEmpty(t, lives[1][1].expired)
	require.Equal(t, throttled("n1", 0.01), c.State(), "its next life is throttled as well")
}
