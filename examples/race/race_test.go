package main_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness"
	"recount/harness/hunt"
	"recount/harness/record"
	"recount/harness/shrink"
	"recount/internal/testled"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// In one of twenty orders of goroutines that are drawn two candidates get one vote, and each time that the run is made. Which one that
// is changes with the server's code.
func TestTwoGetOneVote(t *testing.T) {
	found := func() *record.Run {
		for _, seed := range seeds(300) {
			r, err := harness.Simulate(t.Context(), record.Plan{
				Target: "election.yaml", On: record.OnVirtual, Nodes: 3, Time: time.Second, Goroutines: "random", Seed: seed,
			})
			require.NoError(t, err)
			if shrink.Breaks(r, "single-leader-per-term") {
				return r
			}
		}
		require.Fail(t, "none of 300 orders shows it")
		return nil
	}()
	again := recounttest.Run(t, "election.yaml", "order.yaml", recounttest.OnVirtual(), recounttest.Seeds(found.Seed),
		recounttest.Expect("single-leader-per-term", checkers.Invalid))
	require.NotEmpty(t, again.Events)
	require.Equal(t, found.Events, again.Events)
	require.Equal(t, found.History.Ops[1:], again.History.Ops[1:])
}

// seeds are those from 1.
func seeds(n uint64) (all []uint64) {
	for seed := range n {
		all = append(all, seed+1)
	}
	return all
}

// In the order in which they became ready they do not.
func TestNobodySeesItAsAUsualTestWould(t *testing.T) {
	recounttest.Run(t, "election.yaml", "", recounttest.OnVirtual(), recounttest.Nodes(3), recounttest.For(time.Second), recounttest.Seeds(1, 2, 3, 4, 5))
}

// With the vote given before the next request is handled, no order does harm.
func TestWithoutTheRace(t *testing.T) {
	recounttest.Run(t, "election.yaml", "order.yaml", recounttest.OnVirtual(), recounttest.Set("race", "false"), recounttest.Seeds(seeds(40)...))
}

// Whatever servers call each other, Recount knows whom they name, also when the leader has come back under another id.
func TestNamesThatServersGive(t *testing.T) {
	for _, target := range []string{"drawn.yaml", "named.yaml"} {
		t.Run(target, func(t *testing.T) {
			r := recounttest.Run(t, target, "killed.yaml", recounttest.OnVirtual(), recounttest.Require("agreement", "learns-leader"))
			require.Empty(t, r.Unread)
			led, named := testled.ByNode(r.History)
			require.Equal(t, led, named)
			require.Greater(t, len(led), 1)
		})
	}
}

// A hunt that is told nothing finds it, and shrinks it to no fault at all and an order; without the race it finds nothing.
func TestHunt(t *testing.T) {
	testlong.Only(t)
	cfg := hunt.Config{
		Target: "election.yaml", On: record.OnVirtual, Nodes: [2]int{3, 3}, Seed: 1, Runs: 400,
		Faults: hunt.Faults("election.yaml", record.OnVirtual), Options: map[string][]string{"race": {"false"}},
	}
	r, err := hunt.Hunt(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, 400, r.Runs)
	require.Empty(t, r.Findings)

	cfg.Options = nil
	r, err = hunt.Hunt(t.Context(), cfg)
	require.NoError(t, err)
	require.Len(t, r.Findings, 1)
	require.Equal(t, "single-leader-per-term", r.Findings[0].Property)
	keeper := hunt.Keeper{Results: t.TempDir(), Shrink: shrink.Config{Budget: 10 * time.Minute}}
	kept, err := keeper.Keep(t.Context(), r)
	require.NoError(t, err)
	least := kept[0].Shrunk.Run.Plan
	require.Empty(t, least.Schedule)
	require.NotContains(t, []string{"", record.FIFO}, least.Goroutines)
}
