package hunt

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/record"
	"recount/virtual"
)

// A run that a server brings to a standstill costs a hunt that run alone, and can be looked at. Where most do, the hunt ends.
func TestARunThatStandsStillIsKept(t *testing.T) {
	made := 0
	still := fmt.Errorf("run: %w", &virtual.Standstill{Node: "n2", At: time.Second, What: "spins"})
	cfg := Config{Target: "raft", On: record.OnSim, Nodes: [2]int{3, 3}, Seed: 1, Faults: []string{"kill"}, Runs: 10, Jobs: 1, Make: func(ctx context.Context, p record.Plan) (*record.Run, error) {
		if made++; made == 3 || made == 5 {
			return nil, still
		}
		return harness.Simulate(ctx, p)
	}}
	r, err := Hunt(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, []int{8, 2, 10}, []int{r.Runs, r.StoodStill, r.Done()})
	require.Equal(t, 3, r.Stuck.Run)
	require.ErrorContains(t, r.Stuck.Err, "n2 lets no time pass, 1s into the run: it spins")
	dir, err := Keeper{Results: t.TempDir()}.Stuck(t.Context(), r.Stuck)
	require.NoError(t, err)
	kept, err := record.Read(dir)
	require.NoError(t, err)
	require.Equal(t, r.Stuck.Plan.Hash(), kept.Plan.Hash())

	cfg.Make = func(context.Context, record.Plan) (*record.Run, error) { return nil, still }
	r, err = Hunt(t.Context(), cfg)
	require.ErrorContains(t, err, "3 of 3 runs came to a standstill; the first, run 1, seed ")
	require.Equal(t, 1, r.Stuck.Run)

	cfg.Make = func(context.Context, record.Plan) (*record.Run, error) { return nil, fmt.Errorf("lost") }
	r, err = Hunt(t.Context(), cfg)
	require.ErrorContains(t, err, "lost")
	require.Nil(t, r.Stuck)
}
