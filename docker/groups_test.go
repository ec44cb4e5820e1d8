package docker

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

const group = "239.7.7.7"

// What a node sends to a group arrives, and a cut is of that, too.
func TestMulticast(t *testing.T) {
	c := open(t, engine(t), runID(t), 2, func(config *Config) { config.Multicast = true })
	launch(t, c)
	require.Equal(t, "ok", tell(t, c, "n2", "join %s:7001", group))
	require.NoError(t, c.Unheard(t.Context()))

	hears := func(text string) func() bool {
		return func() bool {
			require.Equal(t, "ok", tell(t, c, "n1", "tell %s:7001 %s", group, text))
			return strings.Contains(tell(t, c, "n2", "heard"), text)
		}
	}
	require.Eventually(t, hears("before"), within, 100*time.Millisecond)
	requireSeen(t, c, links(link("n1", "n2", true)))
	for range 3 {
		require.False(t, hears("meanwhile")())
	}
	requireSeen(t, c, links(link("n1", "n2", false)))
	require.Eventually(t, hears("after"), within, 100*time.Millisecond)
	requireState(t, c, history.Changes{})

	// It leads nowhere else: not even to this machine, if the engine is here.
	l, err := net.Listen("tcp4", ":0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	addrs, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range addrs {
		if ip := a.(*net.IPNet).IP; ip.To4() != nil && !ip.IsLoopback() {
			require.NotEqual(t, "ok", tell(t, c, "n1", "knock %v", net.JoinHostPort(ip.String(), port)))
		}
	}
}

// Where the network need not carry it, a node that listens to a group is told of, by the way out.
func TestAGroupThatNobodyCarries(t *testing.T) {
	c := open(t, engine(t), runID(t), 2)
	launch(t, c)
	require.NoError(t, c.Unheard(t.Context()))
	require.Equal(t, "ok", tell(t, c, "n2", "join %s:7001", group))
	require.EqualError(t, c.Unheard(t.Context()), "n2 listens to the multicast group "+group+", and the network between nodes carries none")
}

func TestTheFirstNodeThatListensIsTold(t *testing.T) {
	require.NoError(t, unheard([]string{"n1"}, nil))
	err := unheard([]string{"n1", "n2", "n3"}, map[string][]netip.Addr{"n3": {netip.MustParseAddr("239.0.0.1")}, "n2": {netip.MustParseAddr("224.0.0.18")}})
	require.ErrorContains(t, err, "n2 listens to the multicast group 224.0.0.18")
}
