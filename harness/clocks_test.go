package harness

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
)

func TestClocksAreReadWhereTheyMayErr(t *testing.T) {
	p := record.Plan{Target: "raft", Nodes: 3, Time: 20 * time.Second, Seed: 5, Schedule: nemesis.Schedule{
		{At: 5 * time.Second, Fault: "clock-jump", Nodes: []string{"n2"}, With: map[string]string{"by": "-1m"}, For: 5 * time.Second},
		{At: 12 * time.Second, Fault: "clock-drift", Nodes: []string{"n3"}, With: map[string]string{"by": "10%"}, For: 5 * time.Second},
	}}
	h, _ := simulate(t, p)
	var settled time.Duration
	told := map[string]int{}
	last := map[string]history.Reading{}
	for _, op := range h.Ops {
		switch op.F {
		case history.Settle:
			settled = op.Time
		case history.ReadClock:
			told[op.Node]++
			last[op.Node] = op.Reading
			var want history.Reading
			switch since := op.Time - settled; {
			case op.Node == "n2" && since >= 5*time.Second && since < 10*time.Second:
				want.Wall = -time.Minute
			case op.Node == "n3" && since > 12*time.Second:
				drifted := min(since-12*time.Second, 5*time.Second) / 10
				want = history.Reading{Wall: drifted, Monotonic: drifted}
				if since >= 17*time.Second {
					want.Wall = 0
				}
			}
			require.InDelta(t, want.Wall, op.Reading.Wall, float64(time.Microsecond), "%s at %v", op.Node, op.Time-settled)
			require.InDelta(t, want.Monotonic, op.Reading.Monotonic, float64(time.Microsecond), "%s at %v", op.Node, op.Time-settled)
		}
	}
	for node, times := range told {
		require.Greater(t, times, 20, "every second: %s", node)
	}
	require.Len(t, last, 3)
	for node, r := range last {
		require.Zero(t, r.Wall, "%s is right in the end", node)
	}

	p.Schedule = p.Schedule[:0]
	h, _ = simulate(t, p)
	for _, op := range h.Ops {
		require.NotEqual(t, history.ReadClock, op.F, "nobody asked for the time")
	}
}
