//go:build linux

package agent

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// As in simulation, the delays and jitters of a link and of its port are summed before they are cut off at 0.
func TestAPacketSuffersWhatItsLinkAndItsPortDoTogether(t *testing.T) {
	const ms = time.Millisecond
	n1 := netip.AddrFrom4([4]byte{10, 0, 0, 1})
	p := newPacer(rand.New(rand.NewPCG(1, 2)), nil)
	p.set(states{{addr: n1}: {Delay: 100 * ms}, {n1, 9}: {Jitter: 200 * ms}})
	at, now := map[string]int{}, time.Now()
	for range 4000 {
		due, pass := p.due(n1, [2]uint16{7, 9}, 28, now)
		require.True(t, pass)
		late := due.Sub(now)
		require.GreaterOrEqual(t, late, time.Duration(0))
		require.LessOrEqual(t, late, 300*ms)
		switch {
		case late == 0:
			at["none"]++
		case late < 100*ms:
			at["less"]++
		default:
			at["more"]++
		}
	}
	require.InDelta(t, 1000, at["none"], 120, "a quarter of what is drawn is below 0")
	require.InDelta(t, 1000, at["less"], 120)
	require.InDelta(t, 2000, at["more"], 120)
}
