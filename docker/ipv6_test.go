package docker

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// Where nodes have addresses of both families, what befalls a link befalls both.
func TestLinksOfIPv6(t *testing.T) {
	e := engine(t)
	c, err := e.Open(t.Context(), Config{Run: runID(t), Nodes: []string{"n1", "n2"}, SelfImage: memberImage(t, e), IPv6: true})
	if err != nil {
		t.Skipf("this engine makes no networks of IPv6; package agent tests the rules for it: %v", err)
	}
	t.Cleanup(func() {
		require.NoError(t, c.Close(context.Background()))
		requireNothingLeft(t, e, c.config.Run)
	})
	launch(t, c)
	require.Len(t, c.nodes["n2"].addrs, 2)
	six := net.JoinHostPort(c.nodes["n2"].addrs[1].String(), "7000")
	require.Equal(t, "ok", tell(t, c, "n1", "connect %s", six))

	requireSeen(t, c, links(link("n1", "n2", true), link("n2", "n1", true)))
	require.Contains(t, tell(t, c, "n1", "knock %s", six), "timeout")
	require.Contains(t, tell(t, c, "n1", "knock %s", address(c, "n2")), "timeout")
	requireSeen(t, c, links(link("n1", "n2", false), link("n2", "n1", false)))
	require.Equal(t, "ok", tell(t, c, "n1", "connect %s", six))

	slow := link("n1", "n2", false)
	slow.Delay = 200 * time.Millisecond
	requireSeen(t, c, links(slow))
	began := time.Now()
	require.Equal(t, "ok", tell(t, c, "n1", "connect %s", six))
	require.GreaterOrEqual(t, time.Since(began), 200*time.Millisecond)
	requireSeen(t, c, links(link("n1", "n2", false)))
	requireState(t, c, history.Changes{})
}
