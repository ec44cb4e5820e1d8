package when

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

const msec = time.Millisecond

// by is a search in which a future breaks what is looked for with the chance that its moment has.
func by(chance func(at time.Duration) float64) Config {
	return Config{
		Futures: 60, Fine: msec, Jobs: 1,
		Future: func(_ context.Context, p record.Plan, from time.Duration, seed uint64) (*record.Run, error) {
			r := &record.Run{}
			if rand.New(rand.NewPCG(seed, uint64(from))).Float64() < chance(from) {
				r.Status = record.StatusBroken
			}
			return r, nil
		},
		Breaks: func(r *record.Run) bool { return r.Status == record.StatusBroken },
	}
}

func TestJumpsAreFound(t *testing.T) {
	one, two := 1234*msec, 2500*msec+300*time.Microsecond
	r, err := by(func(at time.Duration) float64 {
		switch {
		case at < one:
			return 0.1
		case at < two:
			return 0.55
		}
		return 1
	}).Find(t.Context(), record.Plan{Seed: 1}, 3*time.Second)
	require.NoError(t, err)
	require.Len(t, r.Jumps, 2)
	for i, at := range []time.Duration{one, two} {
		j := r.Jumps[i]
		require.Less(t, j.Before.At, at)
		require.GreaterOrEqual(t, j.After.At, at)
		require.LessOrEqual(t, j.After.At-j.Before.At, msec)
	}
	require.Zero(t, r.Moments[0].At)
	require.Equal(t, 3*time.Second, r.Moments[len(r.Moments)-1].At)
	require.Equal(t, 60*len(r.Moments), r.Runs)
	require.False(t, r.Coarse)
}

func TestWhereNothingJumpsNothingIsToldOf(t *testing.T) {
	r, err := by(func(time.Duration) float64 { return 0.5 }).Find(t.Context(), record.Plan{Seed: 2}, time.Second)
	require.NoError(t, err)
	require.Empty(t, r.Jumps)
	require.Len(t, r.Moments, parts+1)
	require.False(t, r.Certain)
	r, err = by(func(time.Duration) float64 { return 1 }).Find(t.Context(), record.Plan{Seed: 2}, time.Second)
	require.NoError(t, err)
	require.True(t, r.Certain)
	require.Len(t, r.Moments, 5, "all of it roughly is enough to see that")
}

func TestWhoeverEndsItHasWhatWasFound(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := by(func(at time.Duration) float64 { return float64(at) / float64(time.Second) })
	c.Progress = func(moments, runs int) {
		if moments == 3 {
			cancel()
		}
	}
	r, err := c.Find(ctx, record.Plan{}, time.Second)
	require.NoError(t, err)
	require.True(t, r.Coarse)
	require.Len(t, r.Moments, 3)

	failed := errors.New("no engine")
	c = by(nil)
	c.Future = func(context.Context, record.Plan, time.Duration, uint64) (*record.Run, error) { return nil, failed }
	_, err = c.Find(t.Context(), record.Plan{}, time.Second)
	require.ErrorIs(t, err, failed)
}
