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

// A hunt ends where a server lets no time pass. Which run that was can be looked at.
func TestARunThatStandsStillIsKept(t *testing.T) {
	made := 0
	cfg := Config{Target: "raft", On: record.OnSim, Nodes: [2]int{3, 3}, Seed: 1, Faults: []string{"kill"}, Runs: 10, Jobs: 1, Make: func(ctx context.Context, p record.Plan) (*record.Run, error) {
		if made++; made == 3 {
			return nil, fmt.Errorf("run: %w", &virtual.Standstill{Node: "n2", At: time.Second, What: "spins"})
		}
		return harness.Simulate(ctx, p)
	}}
	r, err := Hunt(t.Context(), cfg)
	require.ErrorContains(t, err, "n2 lets no time pass, 1s into the run: it spins")
	require.Equal(t, 3, r.Stuck.Run)
	dir, err := Keeper{Results: t.TempDir()}.Stuck(t.Context(), r.Stuck)
	require.NoError(t, err)
	kept, err := record.Read(dir)
	require.NoError(t, err)
	require.Equal(t, r.Stuck.Plan.Hash(), kept.Plan.Hash())

	cfg.Make = func(context.Context, record.Plan) (*record.Run, error) { return nil, fmt.Errorf("lost") }
	r, err = Hunt(t.Context(), cfg)
	require.ErrorContains(t, err, "lost")
	require.Nil(t, r.Stuck)
}
