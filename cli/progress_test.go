package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"recount/harness/batch"
	"recount/harness/campaign"
	"recount/harness/hunt"
	"recount/harness/record"
	"recount/harness/shrink"
)

// All that takes long says how far it is of how much, and by which clock.
func TestHowFarWorkIs(t *testing.T) {
	budget := &huntFlags{}
	budget.Target, budget.Budget = "raft", time.Minute
	for want, got := range map[string]string{
		"running: 3 of 12 runs, 25 %; 10s by the wall clock, about 30s left": far(batch.Progress{Doing: "running", Done: 3, Planned: 12, Passed: 10 * time.Second}.Estimate(0), "run", 0),
		"running: 1 run; 10s of 1m0s by the wall clock, about 50s left":      far(batch.Progress{Doing: "running", Done: 1, Passed: 10 * time.Second}.Estimate(time.Minute), "run", time.Minute),
		"hunting raft: 40 runs, 3.5 a second, coverage 7, 1 finding, 2 did not start; 10s of 1m0s by the wall clock, about 50s left": budget.progress(
			hunt.Progress{Runs: 35, NotStarted: 2, LeftOut: 3, Coverage: 7, Findings: 1, Took: 10 * time.Second}),
		"hunting raft: 2 runs, 5.0 s a run, coverage 7, 0 findings; 10s of 1m0s by the wall clock, about 50s left": budget.progress(
			hunt.Progress{Runs: 2, Coverage: 7, Took: 10 * time.Second}),
		"shrinking: 30 runs, 4 plans tried, down to 3 nodes and no fault; 10s of 5m0s by the wall clock, about 4m50s left": shrinkProgress(
			shrink.Progress{Tried: 4, Runs: 30, Took: 10 * time.Second, Budget: 5 * time.Minute, Plan: record.Plan{Nodes: 3}}),
		"shrinking: 1 run, 1 plan tried, down to 3 nodes and no fault; 6s of 15s by the wall clock, about 9s left": shrinkProgress(
			shrink.Progress{Tried: 1, Runs: 1, Took: 6 * time.Second, Budget: 14736110463, Plan: record.Plan{Nodes: 3}}), // a share of what is left
		"nightly: 50 of 100 runs, 50 %, 5.0 a second here, 0 findings, shrinking what is new; 10s by the wall clock, about 10s left": campaignProgress(campaign.Progress{
			Progress: batch.Progress{Doing: "nightly", Done: 40, Planned: 100, Passed: 10 * time.Second, Left: 10 * time.Second}, UnderWay: 10, Rate: 5, Shrinking: true}, 0),
	} {
		require.Equal(t, want, got)
	}
}

// Where there is no terminal, work that takes long is told of after 2 s, and then every 10 s; so is what comes after it.
func TestProgressIsToldSoonAndThenSeldom(t *testing.T) {
	cmd, to := new(cobra.Command), new(strings.Builder)
	cmd.SetErr(to)
	p := newProgress(cmd)
	lines := func(passed time.Duration) int {
		p.told = time.Now().Add(-passed)
		p.tell(func() string { return "so far" })
		return strings.Count(to.String(), "recount: so far\n")
	}
	require.Equal(t, 0, lines(-time.Minute))
	require.Equal(t, 1, lines(2*time.Second))
	require.Equal(t, 1, lines(3*time.Second))
	require.Equal(t, 2, lines(10*time.Second))
	p.end()
	require.Equal(t, 2, lines(-time.Minute))
	require.Equal(t, 3, lines(2*time.Second))
}
