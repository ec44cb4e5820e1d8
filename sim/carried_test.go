package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

func TestAMessageTellsWhatHeldItUp(t *testing.T) {
	slow := history.Link{From: "n1", To: "n2", LinkState: history.LinkState{Delay: 50 * time.Millisecond}}
	all := sentTwenty(t, nil, func(c *Cluster, _ time.Duration) {
		c.Apply(history.ChangesOf(slow), func(history.Effect) {})
		c.After(100*time.Millisecond, func() {
			c.Apply(history.ChangesOf(history.Link{From: "n1", To: "n2"}), func(history.Effect) {})
		})
	})
	require.NotEmpty(t, all)
	for _, m := range all {
		held := m.Arrived-m.Sent >= 50*time.Millisecond
		require.Equal(t, held, m.Late == "the link is 50ms ± 0s late", m)
	}
	require.NotEmpty(t, all[0].Late)
	require.Empty(t, all[len(all)-1].Late)

	for _, m := range sentTwenty(t, &history.Trap{Node: "n1", ID: 1, TrapState: history.TrapState{Do: history.Hold, Kind: "note", Until: "never", Most: 3}}, nothing) {
		require.Equal(t, m.Arrived-m.Sent > 100*time.Millisecond, m.Late == "a trap held it", m)
	}
}
