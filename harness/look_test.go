package harness

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/nemesis"
	"recount/virtual"
)

// Who looks changes nothing, and who ends the run by that is told so.
func TestARunIsTheSameWhoeverLooks(t *testing.T) {
	p := sealed(nemesis.Step{At: time.Second, Fault: "pause", Nodes: nemesis.Named{"n2"}, For: time.Second})
	r, err := Simulate(t.Context(), p)
	require.NoError(t, err)
	paused := ""
	again, err := Look(t.Context(), p, 3*time.Second, func(c *virtual.Cluster) error {
		require.Equal(t, 3*time.Second, c.Now())
		require.Len(t, c.Processes(), 3)
		for _, p := range c.Processes() {
			if p.State == "paused" {
				paused += p.Node
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, "n2", paused)
	require.Equal(t, r.Events, again.Events)
	require.NoError(t, Same(r.History, again.History))

	over := errors.New("over")
	_, err = Look(t.Context(), p, time.Second, func(*virtual.Cluster) error { return over })
	require.ErrorIs(t, err, over)
	_, err = Look(t.Context(), p, time.Hour, func(*virtual.Cluster) error { return over })
	require.ErrorContains(t, err, "at 1h0m0s there is nothing to look at")
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Look(ctx, p, time.Second, func(*virtual.Cluster) error {
		cancel()
		return ctx.Err()
	})
	require.ErrorIs(t, err, context.Canceled)
}
