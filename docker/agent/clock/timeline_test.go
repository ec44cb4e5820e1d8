package clock

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSkewsThatCannotBe(t *testing.T) {
	for _, s := range []Skew{{}, {Offset: maxOffset}, {Offset: -maxOffset}, {Drift: minDrift}, {Drift: maxDrift}} {
		require.NoError(t, s.Check())
	}
	zero := 0.0
	for _, s := range []Skew{{Offset: maxOffset + 1}, {Offset: -maxOffset - 1}, {Drift: -1}, {Drift: 11}, {Drift: zero / zero}} {
		require.Error(t, s.Check())
	}
}

// genSkew draws a skew, with round values more often than not.
func genSkew(t *rapid.T) Skew {
	return Skew{
		Offset: time.Duration(rapid.OneOf(rapid.SampledFrom([]int64{0, 3e10, -3e10}), rapid.Int64Range(-1e15, 1e15)).Draw(t, "offset")),
		Drift:  rapid.OneOf(rapid.SampledFrom([]float64{0, 0.01, -0.01, 1e-6}), rapid.Float64Range(minDrift, maxDrift)).Draw(t, "drift"),
	}
}

// moment is a moment at which all clocks read the same: what counts is how much time passes.
func moment(t int64) (m Moment) {
	for i := range m {
		m[i] = t
	}
	return m
}

func TestClocksKeepTheirPromisesThroughChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := rapid.Int64Range(0, 1<<61).Draw(t, "start")
		var line Timeline
		last := now
		for range rapid.IntRange(1, 20).Draw(t, "changes") {
			now += int64(line.pending(moment(now)))
			before := line
			s := genSkew(t)
			line = line.Turn(s, moment(now))
			require.Equal(t, s, line.Skew)
			require.InDelta(t, before.Monotonic(moment(now)), line.Monotonic(moment(now)), 1, "the monotonic clock steps")
			if s.Drift == before.Skew.Drift {
				step := line.Wall(moment(now)) - before.Wall(moment(now))
				require.Equal(t, s.Offset-before.Skew.Offset, step)
			}
			for range rapid.IntRange(0, 5).Draw(t, "readings") {
				now += rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(0, 3*int64(Lead)), rapid.Int64Range(0, 1e12)).Draw(t, "later")
				steady := now + int64(line.Monotonic(moment(now)))
				require.GreaterOrEqual(t, steady, last, "the monotonic clock goes back")
				last = steady
				if s.Drift == 0 {
					require.Equal(t, s.Offset, line.Wall(moment(now)), "without drift the wall clock errs by its offset")
				}
			}
		}
	})
}

func TestADriftGainsWhatItSays(t *testing.T) {
	for _, drift := range []float64{0.01, -0.01, 1e-6, minDrift, maxDrift} {
		line := Timeline{}.Turn(Skew{Drift: drift}, moment(0))
		from, to := moment(int64(Lead)), moment(int64(Lead+1000*time.Second))
		for _, at := range []func(Moment) time.Duration{line.Wall, line.Monotonic} {
			require.InDelta(t, drift*1000e9, at(to)-at(from), 500)
			require.InDelta(t, 0, at(moment(0)), 1)
		}
		healed := line.Turn(Skew{}, to)
		require.Zero(t, healed.Wall(to), "the wall clock is set right")
		require.InDelta(t, line.Monotonic(to), healed.Monotonic(moment(2*to[0])), math.Abs(drift)*float64(Lead)+2, "the monotonic one keeps it")
	}
}
