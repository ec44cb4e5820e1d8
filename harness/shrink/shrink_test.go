package shrink

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
)

// sec is a number of seconds.
func sec(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }

// crowded are plans that break a property, with much around what it takes.
var crowded = map[string]record.Plan{
	"no-ping-pong": {
		Target: "blazingmq-term", Nodes: 6, Time: sec(40), Seed: 77, Workloads: []string{"fence"}, Options: map[string]string{"missed": "4"},
		Schedule: nemesis.Schedule{
			{At: sec(1.234), Fault: "pause", Nodes: []string{"follower"}, For: sec(2)},
			{At: sec(8.765), Fault: "cut-link", Nodes: []string{"leader", "one"}, For: sec(19.876)},
			{At: sec(33), Fault: "kill", Nodes: []string{"leader"}, For: sec(3)},
		},
	},
	"sticky-leader": {
		Target: "raft", Nodes: 5, Time: sec(20), Seed: 5, Workloads: []string{"fence"},
		Schedule: nemesis.Schedule{
			{At: sec(2), Fault: "isolate", Nodes: []string{"follower"}, For: sec(3.21)},
			{At: sec(9), Fault: "isolate", Nodes: []string{"follower"}, For: sec(4.32)},
		},
	},
}

func simulate(t testing.TB, p record.Plan) *record.Run {
	r, err := harness.Simulate(context.Background(), p)
	require.NoError(t, err)
	return r
}

func shrunk(t testing.TB, property string, cfg Config) *Result {
	cfg.Property = property
	r, err := Shrink(context.Background(), simulate(t, crowded[property]), cfg)
	require.NoError(t, err)
	require.Equal(t, property, r.Property)
	require.False(t, r.Interrupted)
	return r
}

func shows(t testing.TB, p record.Plan, property string) bool {
	v := broken(simulate(t, p), property)
	return v != nil && v.Verdict == checkers.Invalid
}

func TestTheSameIsShrunkToTheSameWhateverTheJobs(t *testing.T) {
	a, b := shrunk(t, "sticky-leader", Config{Jobs: 1}), shrunk(t, "sticky-leader", Config{Jobs: 5})
	require.Equal(t, a.Plan, b.Plan)
	require.Equal(t, a.Hits, b.Hits)
	require.Equal(t, a.Tried, b.Tried)
}

func TestInterruptedShrinkingKeepsTheLeastSoFar(t *testing.T) {
	for _, after := range []int64{1, 40, 150} {
		ctx, stop := context.WithCancel(context.Background())
		var runs atomic.Int64
		cfg := Config{Property: "no-ping-pong", Make: func(ctx context.Context, p record.Plan) (*record.Run, error) {
			if runs.Add(1) == after {
				stop()
			}
			return harness.Simulate(ctx, p)
		}}
		r, err := Shrink(ctx, simulate(t, crowded["no-ping-pong"]), cfg)
		require.NoError(t, err)
		require.True(t, r.Interrupted)
		require.True(t, shows(t, r.Plan, "no-ping-pong"))
		require.LessOrEqual(t, len(r.Plan.Schedule), 3)
		text, err := r.Scenario("")
		require.NoError(t, err)
		require.Contains(t, string(text), "and cut short in that")
	}
}

// A violation that no fault excused is not shrunk to one that faults had taken the promise's grounds away from.
func TestWhatNothingExcusesIsNotShrunkToWhatIsExcused(t *testing.T) {
	r := &record.Run{Unkept: &history.Frame{}, Verdicts: []record.Verdict{
		{Result: checkers.Result{Property: "elects", Verdict: checkers.Invalid}, Excused: true},
	}}
	require.Nil(t, criterion{property: "elects"}.shows(r, 0))
	require.NotNil(t, criterion{property: "elects", excused: true}.shows(r, 0))
	r.Verdicts[0].Excused = false
	require.NotNil(t, criterion{property: "elects"}.shows(r, 0))
}

// Where runs take long, as on containers, some of the budget is left to tell how often the result shows the violation.
func TestTheRateIsMeasuredWithinTheBudget(t *testing.T) {
	crowd := simulate(t, crowded["no-ping-pong"])
	for _, c := range []struct {
		run      time.Duration
		measured int
		rate     string
	}{
		{40 * time.Second, 10, "10 of 10 runs with seeds at random show it"},
		{4 * time.Minute, 3, "3 of 3 runs with seeds at random show it; 10 were to be made"},
		{time.Hour, 0, "how often it shows was not measured: shrinking was cut short"},
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg := Config{Property: "no-ping-pong", Jobs: 1, Need: 2, Of: 3, Measure: 10, Budget: 30 * time.Minute}
			cfg.Make = func(ctx context.Context, p record.Plan) (*record.Run, error) {
				select {
				case <-time.After(c.run):
					return harness.Simulate(ctx, p)
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			r, err := Shrink(t.Context(), crowd, cfg)
			require.NoError(t, err)
			require.True(t, r.Interrupted)
			require.Equal(t, c.measured, r.Measured)
			require.Equal(t, c.rate, r.Rate())
			require.LessOrEqual(t, r.Took, cfg.Budget)
		})
	}
}

// Where runs take long, the biggest steps come before many runs tell how rare the property breaks.
func TestWhatTakesLongIsShrunkByBigStepsFirst(t *testing.T) {
	crowd := simulate(t, crowded["no-ping-pong"])
	crowd.Took = time.Second
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Property: "no-ping-pong", Jobs: 1, Measure: 10, Budget: 2 * time.Minute}
		var least []Progress
		cfg.Progress = func(p Progress) { least = append(least, p) }
		cfg.Make = func(ctx context.Context, p record.Plan) (*record.Run, error) {
			time.Sleep(time.Second)
			return harness.Simulate(ctx, p)
		}
		r, err := Shrink(t.Context(), crowd, cfg)
		require.NoError(t, err)
		require.LessOrEqual(t, r.Took, cfg.Budget)
		require.Len(t, r.Plan.Schedule, 1)
		require.Equal(t, 3, r.Plan.Nodes)
		first := slices.IndexFunc(least, func(p Progress) bool { return len(p.Plan.Schedule) == 1 })
		require.Less(t, least[first].Runs, leastRuns, "as many runs as tell how rare it is")
	})
}

// That shrinking goes on is told after each run, also where nothing smaller shows the violation.
func TestEachRunIsTold(t *testing.T) {
	var told []int
	calm := crowded["no-ping-pong"]
	calm.Schedule = nil
	held := simulate(t, calm)
	r, err := Shrink(t.Context(), simulate(t, crowded["no-ping-pong"]), Config{Property: "no-ping-pong", Jobs: 1, Runs: 5,
		Make:     func(context.Context, record.Plan) (*record.Run, error) { return held, nil },
		Progress: func(p Progress) { told = append(told, p.Runs) },
	})
	require.NoError(t, err)
	require.Equal(t, r.From.Schedule, r.Plan.Schedule)
	require.Len(t, told, r.Runs)
	require.GreaterOrEqual(t, r.Runs, 5)
}

// Who asks for clusters of a size is not told of smaller ones.
func TestNoClusterIsSmallerThanTheFewestNodes(t *testing.T) {
	for fewest, want := range map[int]int{0: 3, 4: 4, 9: 6} {
		var sizes []int
		r := shrunk(t, "no-ping-pong", Config{Jobs: 1, Need: 1, Of: 1, Measure: 1, Fewest: fewest, Make: func(ctx context.Context, p record.Plan) (*record.Run, error) {
			sizes = append(sizes, p.Nodes)
			return harness.Simulate(ctx, p)
		}})
		require.Equal(t, want, r.Plan.Nodes)
		if fewest > 0 {
			require.GreaterOrEqual(t, slices.Min(sizes), want, "none is tried")
		}
	}
}

// Who hunts an election with an option is not told of another election.
func TestPinnedOptionsStay(t *testing.T) {
	small := Config{Jobs: 1, Need: 1, Of: 1, Measure: 1}
	require.Empty(t, shrunk(t, "no-ping-pong", small).Plan.Options)
	small.Pinned = []string{"missed"}
	require.Equal(t, map[string]string{"missed": "4"}, shrunk(t, "no-ping-pong", small).Plan.Options)
}

// A seed that does not show it for a plan is not asked again.
func TestNoSeedIsTriedTwice(t *testing.T) {
	made := 0
	s, err := newShrinker(simulate(t, crowded["no-ping-pong"]), Config{Property: "no-ping-pong", Jobs: 1, Make: func(_ context.Context, p record.Plan) (*record.Run, error) {
		made++
		return &record.Run{Plan: p}, nil // which breaks nothing
	}})
	require.NoError(t, err)
	s.ctx, s.need = t.Context(), 1
	p := s.best
	p.Nodes = 3
	for _, tries := range []int{4, 4, 10, 8} {
		s.tries = tries
		require.False(t, s.try(p))
	}
	require.Equal(t, 10, made)
}

func TestARunThatFailsLeavesTheLeastSoFar(t *testing.T) {
	crowd, runs := simulate(t, crowded["no-ping-pong"]), 0
	cfg := Config{Property: "no-ping-pong", Jobs: 1, Need: 1, Of: 1, Make: func(ctx context.Context, p record.Plan) (*record.Run, error) {
		if runs++; runs == 20 {
			return nil, os.ErrPermission
		}
		return harness.Simulate(ctx, p)
	}}
	r, err := Shrink(t.Context(), crowd, cfg)
	require.ErrorIs(t, err, os.ErrPermission)
	require.True(t, r.Failed)
	require.False(t, r.Interrupted, "no budget ended it")
	require.Len(t, r.Plan.Schedule, 1)
	require.True(t, shows(t, r.Plan, "no-ping-pong"))
	require.Zero(t, r.Measured)
}

// TestAPlanThatShowsItNowAndThenNeedsSoManyHits stands for containers: a run shows the violation or does not.
func TestAPlanThatShowsItNowAndThenNeedsSoManyHits(t *testing.T) {
	peaceful := crowded["no-ping-pong"]
	peaceful.Schedule = nil
	calm := simulate(t, peaceful)
	var runs int
	r := shrunk(t, "no-ping-pong", Config{Jobs: 1, Need: 2, Of: 4, Measure: 8, Make: func(ctx context.Context, p record.Plan) (*record.Run, error) {
		if runs++; runs%4 == 3 {
			return calm, nil
		}
		return harness.Simulate(ctx, p)
	}})
	require.Len(t, r.Plan.Schedule, 1)
	require.Equal(t, "cut-link", r.Plan.Schedule[0].Fault)
	require.Equal(t, 3, r.Plan.Nodes)
	require.Empty(t, r.Plan.Workloads)
	require.Empty(t, r.Plan.Options)
	require.Equal(t, 8, r.Measured)
	require.Equal(t, 6, r.Hits)
	require.Equal(t, "6 of 8 runs with seeds at random show it", r.Rate())
}

// Goroutines are left in the simplest order that breaks it.
func TestTheOrderOfGoroutinesIsShrunk(t *testing.T) {
	all := []string{"", record.Random, record.PCT}
	r, err := harness.Simulate(context.Background(), record.Plan{Target: "heartbeat-only", Nodes: 3, Time: 10 * time.Second, Seed: 1, Faults: []string{"isolate"}})
	require.NoError(t, err)
	r.Plan.Target, r.Plan.On, r.Plan.Goroutines, r.Plan.Schedule = "etcd", record.OnVirtual, record.PCT, nil
	for least, want := range all {
		result, err := Shrink(context.Background(), r, Config{Property: "exclusive-leadership", Measure: 1, Make: func(_ context.Context, p record.Plan) (*record.Run, error) {
			made := *r
			if made.Plan = p; slices.Index(all, p.Goroutines) < least {
				made.Verdicts = nil
			}
			return &made, nil
		}})
		require.NoError(t, err)
		require.Equal(t, want, result.Plan.Goroutines)
	}
}

func TestWhatCannotBeShrunkIsSaid(t *testing.T) {
	quiet := simulate(t, record.Plan{Target: "raft", Nodes: 3, Time: sec(5)})
	_, err := Shrink(context.Background(), quiet, Config{})
	require.ErrorContains(t, err, "the run does not break any property")
	require.True(t, harness.IsUsage(err))
	_, err = Shrink(context.Background(), quiet, Config{Property: "fencing"})
	require.ErrorContains(t, err, "the run does not break fencing")

	again, err := harness.PlanReplay(simulate(t, crowded["sticky-leader"]), record.Plan{Seed: 6})
	require.NoError(t, err)
	_, err = Shrink(context.Background(), simulate(t, again.Plan), Config{})
	require.ErrorContains(t, err, "repeats the faults of another")

	_, err = Shrink(context.Background(), &record.Run{}, Config{})
	require.ErrorContains(t, err, "no plan to shrink")
}

func TestTheScenarioThatIsLeftRunsAndFailsForAsLongAsThePropertyBreaks(t *testing.T) {
	r := shrunk(t, "sticky-leader", Config{})
	text, err := r.Scenario("Found by hand.")
	require.NoError(t, err)
	require.Contains(t, string(text), "about: raft breaks sticky-leader with 3 nodes and 1 fault (isolate)\n")
	require.Contains(t, string(text), "# Found by hand.\n")
	require.Contains(t, string(text), "require: [sticky-leader]\n")
	require.NotContains(t, string(text), "--on")
	r.Plan.On = record.OnVirtual
	elsewhere, err := r.Scenario("")
	require.NoError(t, err)
	require.Contains(t, string(elsewhere), "# It is run with --on virtual.\n")
	path := filepath.Join(t.TempDir(), "sticky-leader.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o644))
	s, err := harness.LoadScenario(path)
	require.NoError(t, err)
	run := simulate(t, s.Plan(record.Plan{Seed: *s.Seed}))
	require.Equal(t, record.StatusBroken, run.Status)
	other := simulate(t, s.Plan(record.Plan{Seed: *s.Seed, Options: nil, Target: "raft-prevote"}))
	require.Nil(t, broken(other, "sticky-leader"))
}

func TestSimpleFaultsAreThere(t *testing.T) {
	for _, name := range simple {
		_, err := nemesis.Find(name)
		require.NoError(t, err)
	}
}

func TestEveryFaultBecomesASimpleOne(t *testing.T) {
	nodes := []string{"n1", "n2", "n3"}
	for _, from := range nemesis.All() {
		for _, name := range simple {
			to, err := nemesis.Find(name)
			require.NoError(t, err)
			st := nemesis.Step{Fault: from.Name}
			for _, a := range from.Aims {
				if a.Default != "" {
					st.Nodes = append(st.Nodes, a.Default)
				}
			}
			become(&st, to, st.Nodes)
			require.NoError(t, nemesis.Schedule{st}.Check(nodes), "%s as %s", from.Name, name)
			require.Len(t, st.Nodes, len(to.Aims))
		}
	}
}

func TestRounderTexts(t *testing.T) {
	for text, want := range map[string][]string{
		"12.3%": {"10%", "12%"}, "30%": nil, "26951bit": {"30000bit", "27000bit"}, "one": nil, "100ms": nil, "0.05": nil,
	} {
		require.Equal(t, want, rounder(text), text)
	}
	require.Equal(t, []string{"500ms", "600ms", "590ms", "600ms"}, rounderTime("599.1ms"))
	require.Nil(t, rounderTime("2s"))
	require.Nil(t, rounderTime("12%"))
}
