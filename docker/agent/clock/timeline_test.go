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
		look := func() {
			for range rapid.IntRange(0, 5).Draw(t, "readings") {
				now += rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(0, 3*int64(Lead)), rapid.Int64Range(0, 1e12)).Draw(t, "later")
				steady := now + int64(line.Monotonic(moment(now)))
				require.GreaterOrEqual(t, steady, last, "the monotonic clock goes back")
				last = steady
				if line.Skew.rate() == 0 && !line.slewing() && line.Settled(moment(now)) <= 0 {
					require.InDelta(t, line.Skew.Offset, line.Wall(moment(now)), 1, "without drift the wall clock errs by its offset")
				}
			}
		}
		for range rapid.IntRange(1, 20).Draw(t, "changes") {
			s := genSkew(t)
			for first := true; first || line.slewing(); first = false {
				now += int64(line.pending(moment(now)))
				before := line
				line = line.Turn(s, moment(now))
				require.Equal(t, s, line.Skew)
				require.InDelta(t, before.Monotonic(moment(now)), line.Monotonic(moment(now)), 3*(1+fastest(before, line)), "the monotonic clock steps")
				if s.rate() != 0 && s.rate() == before.Skew.rate() {
					step := line.Wall(moment(now)) - before.Wall(moment(now))
					require.Equal(t, s.Offset-before.Skew.Offset, step)
				}
				if line.slewing() {
					look() // sooner or later, the end is told
				}
			}
			require.LessOrEqual(t, line.Settled(moment(now)), LongestSlew+Lead)
			look()
		}
	})
}

// fastest is the highest rate at which clocks err: that of a slew can be higher than that of any drift. A nanosecond of time
// that is rounded off is so many of the error.
func fastest(lines ...Timeline) (rate float64) {
	for _, t := range lines {
		for _, l := range t.deviations {
			rate = max(rate, math.Abs(float64(l.Rate))/(1<<32), math.Abs(float64(l.Before))/(1<<32))
		}
	}
	return rate
}

// healed ends a drift at a time, and returns how long that took.
func healed(line Timeline, at time.Duration) (Timeline, time.Duration) {
	line = line.Turn(Skew{}, moment(int64(at)))
	now := moment(int64(at + Lead))
	line = line.Turn(Skew{}, now)
	return line, Lead + line.Settled(now)
}

func TestADriftGainsWhatItSaysAndGivesItBack(t *testing.T) {
	for drift, took := range map[float64]time.Duration{
		0.001: shortestSlew, 0.01: time.Second, -0.01: time.Second, 1e-6: shortestSlew, 0.1: gentleSlew, 0.5: 10 * time.Second, -0.5: 10 * time.Second,
	} {
		line := Timeline{}.Turn(Skew{Drift: drift}, moment(0))
		const lasted = 10 * time.Second
		from, to := moment(int64(Lead)), moment(int64(Lead+lasted))
		for _, at := range []func(Moment) time.Duration{line.Wall, line.Monotonic} {
			require.InDelta(t, drift*float64(lasted), at(to)-at(from), 500)
			require.InDelta(t, 0, at(moment(0)), 1)
		}
		line, slew := healed(line, Lead+lasted)
		require.InDelta(t, took, slew, float64(3*Lead), "drift %v", drift)
		end := moment(int64(Lead + lasted + slew))
		require.Zero(t, line.Settled(end))
		require.Zero(t, line.Wall(end), "drift %v", drift)
		require.Zero(t, line.Monotonic(end), "drift %v", drift)
	}
}

// A wait until an absolute time goes by the true clock. Whenever it began, it is over when it should be, or when the slew is.
func TestASlewLetsWaitsCatchUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gained := time.Duration(rapid.Int64Range(1, int64(9*time.Second)).Draw(t, "gained"))
		line := Timeline{}.Turn(Skew{Drift: 1}, moment(0))
		end := Lead + gained
		line, slew := healed(line, end)
		begun := end + time.Duration(rapid.Int64Range(-int64(gained), int64(slew)).Draw(t, "begun"))
		late := line.Monotonic(moment(int64(begun))) // by how much a wait is too long
		if begun < end {
			late = Timeline{}.Turn(Skew{Drift: 1}, moment(0)).Monotonic(moment(int64(begun)))
		}
		require.LessOrEqual(t, begun+late, end+slew+time.Microsecond)
	})
}

// The rate of a slew is rounded, so one that is to take the longest time may take a few nanoseconds more.
func TestTheLongestSlewTakesAllBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gained := time.Duration(rapid.Int64Range(int64(10*time.Second), int64(18*time.Second)-int64(Lead)).Draw(t, "gained"))
		drift := rapid.SampledFrom([]float64{0.5, -0.5}).Draw(t, "drift")
		line := Timeline{}.Turn(Skew{Drift: drift}, moment(0))
		line, slew := healed(line, 2*gained)
		end := moment(int64(2*gained + slew))
		require.Zero(t, line.Wall(end))
		require.Zero(t, line.Monotonic(end))
	})
}

func TestADriftThatGainedTooMuchKeepsTheRest(t *testing.T) {
	line := Timeline{}.Turn(Skew{Drift: maxDrift}, moment(0))
	line, slew := healed(line, time.Minute)
	require.InDelta(t, LongestSlew, slew, float64(2*Lead))
	end := moment(int64(time.Minute + slew))
	require.Zero(t, line.Wall(end), "the wall clock may step")
	require.InDelta(t, 10*60-0.9*20, line.Monotonic(end).Seconds(), 1, "the monotonic one may not")
}
