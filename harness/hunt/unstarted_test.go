package hunt

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/record"
	"recount/harness/shrink"
)

// reluctant is a hunt of a server that does not always start.
func reluctant(odd, stuck string, faults ...string) Config {
	return Config{
		Target: "../testdata/reluctant/election.yaml", On: record.OnVirtual, Options: map[string][]string{"odd": {odd}, "stuck": {stuck}}, Seed: 1,
		Faults: faults, Time: 3 * time.Second,
	}
}

// Sizes of which no cluster starts are not drawn again, and the hunt goes on with the others.
func TestSizesThatDoNotStartAreLeftOut(t *testing.T) {
	cfg := reluctant("true", "0", "cut-link")
	cfg.Nodes, cfg.Runs = [2]int{3, 6}, 90
	r := hunted(t, cfg)
	require.Empty(t, r.Findings)
	require.Len(t, r.GivenUp, 2)
	for i, nodes := range []int{4, 6} {
		require.Equal(t, nodes, r.GivenUp[i].Nodes)
		require.ErrorContains(t, r.GivenUp[i].Err, "only odd numbers of nodes are supported")
	}
	require.Equal(t, 6, r.NotStarted, "three of each size")
	require.Nil(t, r.Unstarted)
	require.Positive(t, r.LeftOut)
	require.Equal(t, 90, r.Done())
	require.Greater(t, r.Runs, 45, "those that were planned after that are of other sizes")
	cfg.Jobs = 1
	alone := hunted(t, cfg)
	require.Equal(t, r.Coverage, alone.Coverage, "whatever the jobs")
	require.Equal(t, r.LeftOut, alone.LeftOut)
}

// One run that does not start ends no hunt, and is kept.
func TestARunThatDoesNotStartIsKept(t *testing.T) {
	cfg := reluctant("true", "20", "cut-link")
	cfg.Nodes, cfg.Runs = [2]int{3, 3}, 30
	r := hunted(t, cfg)
	require.Positive(t, r.NotStarted)
	require.Equal(t, 30, r.Runs+r.NotStarted)
	require.Empty(t, r.GivenUp)
	require.ErrorContains(t, r.Unstarted.Err, "n2 is not ready after 10s")
	dir, err := Keeper{Results: t.TempDir()}.Unstarted(t.Context(), r.Unstarted)
	require.NoError(t, err)
	kept, err := record.Read(dir)
	require.NoError(t, err)
	require.Contains(t, kept.Repeat, "--replay "+dir)
	require.FileExists(t, dir+"/nodes/n2.log")
	again, err := harness.PlanReplay(kept, record.Plan{Seed: kept.Seed})
	require.NoError(t, err)
	_, err = harness.Simulate(t.Context(), again.Plan)
	require.NotNil(t, harness.DidNotStart(err))
	require.ErrorContains(t, err, "n2 is not ready after 10s")
}

// Where nothing starts the hunt ends soon, with the first error.
func TestAHuntOfWhatDoesNotStartEnds(t *testing.T) {
	cfg := reluctant("true", "0", "cut-link")
	cfg.Nodes, cfg.Runs = [2]int{4, 4}, 1000
	r, err := Hunt(context.Background(), cfg)
	require.ErrorContains(t, err, "3 of 3 runs did not start; the first, run 1, seed ")
	require.ErrorContains(t, err, "only odd numbers of nodes are supported")
	require.Equal(t, 3, r.NotStarted)
	require.Equal(t, 1, r.Unstarted.Run)

	cfg = reluctant("false", "97", "cut-link")
	cfg.Nodes, cfg.Runs = [2]int{2, 7}, 1000
	r, err = Hunt(context.Background(), cfg)
	require.ErrorContains(t, err, "runs did not start; the first, run ")
	require.Less(t, r.Runs+r.NotStarted, 60)
}

// A finding is shrunk also where plans on the way do not start: these show nothing.
func TestPlansThatDoNotStartShowNothing(t *testing.T) {
	cfg := reluctant("true", "5", "kill")
	cfg.Nodes, cfg.Runs = [2]int{5, 5}, 20
	r := hunted(t, cfg)
	require.Len(t, r.Findings, 1)
	runs := map[int]int{}
	small, err := shrink.Shrink(t.Context(), r.Findings[0].run, shrink.Config{Jobs: 1, Measure: 10, Runs: 60, Make: func(ctx context.Context, p record.Plan) (*record.Run, error) {
		runs[p.Nodes]++
		return harness.Simulate(ctx, p)
	}})
	require.NoError(t, err)
	require.Equal(t, 1, small.Plan.Nodes%2)
	require.Positive(t, runs[2]+runs[4])
	require.LessOrEqual(t, runs[2], 3, "what does not start is not tried again")
	require.LessOrEqual(t, runs[4], 3, "what does not start is not tried again")
}
