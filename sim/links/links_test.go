package links_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/sim/links"
)

const (
	least = time.Millisecond
	most  = 5 * time.Millisecond
)

func healthy() *links.Links {
	return links.New(links.Config{
		Nodes: []string{"n1", "n2", "n3"}, LatencyMin: least, LatencyMax: most, Rand: rand.New(rand.NewPCG(1, 2)),
	})
}

// there is a packet from n1 to n2's port 7000, back one that answers it.
var (
	there = links.Packet{From: 0, To: 1, SourcePort: 40000, Port: 7000, Size: 125}
	back  = links.Packet{From: 1, To: 0, SourcePort: 7000, Port: 40000, Size: 125}
	other = links.Packet{From: 0, To: 1, SourcePort: 40000, Port: 8000, Size: 125}
)

// sent sends that many packets, one a second, and returns how long each took that arrived.
func sent(l *links.Links, p links.Packet, count int) (took []time.Duration) {
	for i := range count {
		now := time.Duration(i) * time.Second
		a := l.Send(now, p)
		if !l.Passes(p) {
			continue
		}
		for _, at := range a.At[:a.N] {
			took = append(took, at-now)
		}
	}
	return took
}

func within(t *testing.T, least, most time.Duration, took []time.Duration) {
	t.Helper()
	require.NotEmpty(t, took)
	for _, d := range took {
		require.GreaterOrEqual(t, d, least)
		require.LessOrEqual(t, d, most)
	}
}

// Each state has its effect on the packets of its direction, of its port if it names one, and ends when it is healed.
func TestEveryStateOfALinkHasItsEffect(t *testing.T) {
	const count = 1000
	for name, c := range map[string]struct {
		state history.LinkState
		look  func(t *testing.T, took []time.Duration)
	}{
		"cut":       {history.LinkState{Cut: true}, func(t *testing.T, took []time.Duration) { require.Empty(t, took) }},
		"loss":      {history.LinkState{Loss: 0.3}, func(t *testing.T, took []time.Duration) { require.InDelta(t, 0.7*count, len(took), 50) }},
		"duplicate": {history.LinkState{Duplicate: 0.3}, func(t *testing.T, took []time.Duration) { require.InDelta(t, 1.3*count, len(took), 50) }},
		"delay": {history.LinkState{Delay: time.Second}, func(t *testing.T, took []time.Duration) {
			within(t, time.Second+least, time.Second+most, took)
		}},
		"jitter": {history.LinkState{Delay: time.Second, Jitter: time.Second}, func(t *testing.T, took []time.Duration) {
			within(t, least, 2*time.Second+most, took)
			early := 0
			for _, d := range took {
				if d < time.Second {
					early++
				}
			}
			require.InDelta(t, count/2, early, 60)
		}},
		"jitter above the delay": {history.LinkState{Delay: time.Millisecond, Jitter: time.Second}, func(t *testing.T, took []time.Duration) {
			within(t, least, time.Second+time.Millisecond+most, took)
		}},
		"reorder": {history.LinkState{Delay: time.Second, Reorder: 0.25}, func(t *testing.T, took []time.Duration) {
			quick := 0
			for _, d := range took {
				if d <= most {
					quick++
				}
			}
			require.InDelta(t, 0.25*count, quick, 50)
		}},
		"rate": {history.LinkState{Rate: 2000}, func(t *testing.T, took []time.Duration) {
			within(t, 500*time.Millisecond+least, 500*time.Millisecond+most, took)
			require.Len(t, took, count)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, port := range []int{0, 7000, 40000} {
				l := healthy()
				l.Set(history.Link{From: "n1", To: "n2", Port: port, LinkState: c.state})
				c.look(t, sent(l, there, count))
				within(t, least, most, sent(l, back, count))
				within(t, least, most, sent(l, links.Packet{From: 0, To: 2}, count))
				if port == 7000 {
					within(t, least, most, sent(l, other, count))
				}
				require.Equal(t, []history.Link{{From: "n1", To: "n2", Port: port, LinkState: c.state}}, l.All())
				l.Set(history.Link{From: "n1", To: "n2", Port: port})
				require.Len(t, sent(l, there, count), count)
				within(t, least, most, sent(l, there, count))
				require.Empty(t, l.All())
			}
		})
	}
}

func TestWhatIsInFlightWhenALinkIsCutDoesNotPass(t *testing.T) {
	l := healthy()
	require.Equal(t, 1, l.Send(0, there).N)
	l.Set(history.Link{From: "n1", To: "n2", LinkState: history.LinkState{Cut: true}})
	require.False(t, l.Passes(there))
	require.True(t, l.Passes(back))
}

func TestALimitedRateHoldsPacketsUpForASecondAtMost(t *testing.T) {
	l := healthy()
	l.Set(history.Link{From: "n1", To: "n2", LinkState: history.LinkState{Rate: 2000}}) // half a second for each
	var leaves []time.Duration
	for range 5 {
		if a := l.Send(0, there); a.N > 0 {
			leaves = append(leaves, a.At[0].Truncate(100*time.Millisecond))
		}
	}
	require.Equal(t, []time.Duration{500 * time.Millisecond, time.Second, 1500 * time.Millisecond}, leaves)
	require.Equal(t, 1, l.Send(3*time.Second, there).N)
}

// What a port suffers comes on top of what its link does, and the limits of both on the rate hold: that of the link for
// all its ports together.
func TestAPortSuffersWhatItsLinkDoes(t *testing.T) {
	l := healthy()
	l.Set(history.Link{From: "n1", To: "n2", LinkState: history.LinkState{Delay: time.Second, Rate: 2000}})
	l.Set(history.Link{From: "n1", To: "n2", Port: 7000, LinkState: history.LinkState{Delay: time.Second, Reset: true}})
	require.Equal(t, history.LinkState{Delay: 2 * time.Second, Rate: 2000, Reset: true}, l.State(there))
	require.Equal(t, history.LinkState{Delay: time.Second, Rate: 2000}, l.State(other))
	within(t, 2500*time.Millisecond+least, 2500*time.Millisecond+most, []time.Duration{l.Send(0, there).At[0]})
	within(t, 2*time.Second+least, 2*time.Second+most, []time.Duration{l.Send(0, other).At[0]})
}

func TestTheSameSeedGivesTheSameArrivals(t *testing.T) {
	run := func() []time.Duration {
		l := healthy()
		l.Set(history.Link{From: "n1", To: "n2", LinkState: history.LinkState{Loss: 0.2, Duplicate: 0.2, Jitter: time.Second, Reorder: 0.1}})
		return sent(l, there, 100)
	}
	first := run()
	require.Equal(t, first, run())
}

func TestWhatIsNoLinkIsRefused(t *testing.T) {
	l := healthy()
	require.NoError(t, l.Check(history.Link{From: "n1", To: "n2", Port: 65535}))
	require.EqualError(t, l.Check(history.Link{From: "n1", To: "n9"}), "no link n1→n9")
	require.EqualError(t, l.Check(history.Link{From: "n1", To: "n1"}), "no link n1→n1")
	require.EqualError(t, l.Check(history.Link{From: "n1", To: "n2", Port: 65536}), "link n1→n2: no port 65536")
}
