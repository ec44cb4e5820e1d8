package clock

import (
	"math"
	"math/bits"
	"time"
)

// The clocks that a program can ask for, by their number in the kernel's interface.
const (
	realtime        = 0
	monotonic       = 1
	monotonicRaw    = 4
	realtimeCoarse  = 5
	monotonicCoarse = 6
	boottime        = 7
	tai             = 11

	clocks = 16 // how many may have errors; all but the named ones, such as the CPU times, have none
)

var (
	walls    = []int{realtime, realtimeCoarse, tai}
	steadies = []int{monotonic, monotonicRaw, monotonicCoarse, boottime}
)

// fine is the clock of which the named one tells the same time, but late by some milliseconds: the coarse clocks stand
// still between two ticks of the kernel.
func fine(id int) int {
	switch id {
	case realtimeCoarse:
		return realtime
	case monotonicCoarse:
		return monotonic
	}
	return id
}

// Moment is what the real clocks read at one time, in nanoseconds.
type Moment [clocks]int64

// deviation is the error of one clock as a function of what the real clock reads. It is what the code in a patched process
// computes, in the same integers.
type deviation struct {
	Offset int64 // the error at Base
	Base   int64
	Rate   int64 // growth of the error from Base on, in units of 2⁻³² ns a nanosecond
	Before int64 // and before it
}

// at returns the error when the real clock reads t.
func (l deviation) at(t int64) int64 {
	d, rate := t-l.Base, l.Rate
	if d < 0 {
		rate = l.Before
	}
	hi, lo := bits.Mul64(uint64(d), uint64(rate))
	if d < 0 {
		hi -= uint64(rate)
	}
	if rate < 0 {
		hi -= uint64(d)
	}
	return l.Offset + int64(hi<<32|lo>>32)
}

// Timeline is how the clocks of a process err, now and from the next change on. The zero Timeline is healthy.
type Timeline struct {
	Skew       Skew // as asked for
	deviations [clocks]deviation
}

// Lead is how far ahead a change of rate begins. A monotonic clock that changed its rate at once would step: by the time
// that the new deviation is written, somebody has read the old one. Where both deviations meet there is no step.
const Lead = 10 * time.Millisecond

// Turn returns the timeline that errs by s instead, from now on as to the offset, and after Lead as to the drift. It must
// not be called before the last change of the drift has begun; see pending.
//
// What the wall clock gains by drifting it loses when the drift ends: its error is then s.Offset. The monotonic clock
// keeps it.
func (t Timeline) Turn(s Skew, now Moment) Timeline {
	next := t
	next.Skew = s
	rate := int64(math.Round(s.Drift * (1 << 32)))
	turn := func(id int) {
		l := t.deviations[id]
		base := now[fine(id)] + int64(Lead)
		// One more makes up for rounding: the error right before the base is never less than it was on the old line.
		next.deviations[id] = deviation{Offset: l.at(base) + 1, Base: base, Rate: rate, Before: l.Rate}
	}
	for _, id := range steadies {
		if s.Drift != t.Skew.Drift {
			turn(id)
		}
	}
	for _, id := range walls {
		switch {
		case s.Drift == 0:
			next.deviations[id] = deviation{}
		case s.Drift != t.Skew.Drift:
			turn(id)
			next.deviations[id].Offset -= int64(t.Skew.Offset)
		default:
			next.deviations[id].Offset -= int64(t.Skew.Offset)
		}
		next.deviations[id].Offset += int64(s.Offset)
	}
	return next
}

// pending returns how long it is until the last change of the drift has begun for all clocks, 0 if it has.
func (t Timeline) pending(now Moment) time.Duration {
	var d int64
	for id := range t.deviations {
		d = max(d, t.deviations[id].Base-now[id])
	}
	return time.Duration(d)
}

// TurnNow is Turn at this moment, or as soon as it may be.
func (t Timeline) TurnNow(s Skew) Timeline {
	for {
		now := Now()
		d := t.pending(now)
		if d == 0 {
			return t.Turn(s, now)
		}
		time.Sleep(d)
	}
}

// Wall is the error of the wall clock at a moment.
func (t Timeline) Wall(at Moment) time.Duration {
	return time.Duration(t.deviations[realtime].at(at[realtime]))
}

// Monotonic is the error of the monotonic clock at a moment.
func (t Timeline) Monotonic(at Moment) time.Duration {
	return time.Duration(t.deviations[monotonic].at(at[monotonic]))
}
