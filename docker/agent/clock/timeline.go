package clock

import (
	"math"
	"math/bits"
	"slices"
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

// rateOf is the Rate of a drift.
func rateOf(drift float64) int64 { return int64(math.Round(drift * (1 << 32))) }

// rate is the drift as a Rate: 0 if it is too small to be one.
func (s Skew) rate() int64 { return rateOf(s.Drift) }

// rate is the growth of the error when the real clock reads t.
func (l deviation) rate(t int64) int64 {
	if t < l.Base {
		return l.Before
	}
	return l.Rate
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
// Who writes it looks just before how much of the lead is left: on a busy machine it may not go on for some milliseconds then.
const Lead = 40 * time.Millisecond

// Turn returns the timeline that is to err by s instead, from now on as to the offset, and after Lead as to the drift. It
// must not be called while a change of rate is about to begin; see pending.
//
// What the clocks have gained by drifting they give back when the drift ends, by slewing: they run too slow, or too fast,
// until they are right. A slew takes two calls, of which the second, once the first has taken effect, says where it ends;
// see slewing.
func (t Timeline) Turn(s Skew, now Moment) Timeline {
	next := t
	next.Skew = s
	step := int64(s.Offset - t.Skew.Offset)
	for _, id := range walls {
		next.deviations[id] = t.bend(id, s, now, int64(t.Skew.Offset))
		next.deviations[id].Offset += step
	}
	for _, id := range steadies {
		next.deviations[id] = t.bend(id, s, now, 0)
	}
	return next
}

// bend returns the deviation of a clock with the drift of s, when its error without any drift would be that.
func (t Timeline) bend(id int, s Skew, now Moment, right int64) deviation {
	l := t.deviations[id]
	base := now[fine(id)] + int64(Lead)
	// One more makes up for rounding: the error right before the base is never less than it was on the old line.
	bent := deviation{Offset: l.at(base) + 1, Base: base, Before: l.rate(base)}
	switch {
	case s.rate() != 0 && s.rate() == t.Skew.rate():
		return l
	case s.rate() != 0:
		bent.Rate = s.rate()
	case l.Rate == 0:
		return l
	case t.Skew.rate() != 0:
		bent.Rate = slewRate(right - bent.Offset)
	default:
		landed, whole := l.land(right)
		switch {
		case !whole && slices.Contains(walls, id):
			return deviation{Offset: right} // it may step
		case landed.Base >= base:
			return landed
		}
		bent.Rate = slewRate(right - bent.Offset) // too late
	}
	return bent
}

// slewing reports whether clocks give back what they have gained, and nobody has said yet where that ends.
func (t Timeline) slewing() bool {
	for _, l := range t.deviations {
		if t.Skew.rate() == 0 && l.Rate != 0 {
			return true
		}
	}
	return false
}

// Settled returns how long it is until clocks that give back what they have gained have done so; 0 if they have.
func (t Timeline) Settled(now Moment) (left time.Duration) {
	for id, l := range t.deviations {
		if l.Rate == 0 && l.Before != 0 {
			left = max(left, time.Duration(l.Base-now[id]))
		}
	}
	return left
}

// leads returns how long it is until the first of the changes of rate begins that t makes to an earlier timeline. What steps begins at
// no time.
func (t Timeline) leads(earlier Timeline, now Moment) time.Duration {
	first := int64(math.MaxInt64)
	for id, l := range t.deviations {
		if l.Base != earlier.deviations[id].Base && l.Rate != l.Before {
			first = min(first, l.Base-now[id])
		}
	}
	return time.Duration(first)
}

// pending returns how long it is until no change of rate is about to begin, 0 if none is.
func (t Timeline) pending(now Moment) time.Duration {
	var d int64
	for id, l := range t.deviations {
		if left := l.Base - now[fine(id)]; left <= int64(Lead) {
			d = max(d, l.Base-now[id])
		}
	}
	return time.Duration(d)
}

// TurnNow is Turn at this moment, or as soon as it may be, with the end of a slew if it begins one.
func (t Timeline) TurnNow(s Skew) Timeline {
	for t.Skew != s || t.slewing() {
		now := Now()
		if d := t.pending(now); d > 0 {
			time.Sleep(d)
			continue
		}
		t = t.Turn(s, now)
	}
	return t
}

// Wall is the error of the wall clock at a moment.
func (t Timeline) Wall(at Moment) time.Duration {
	return time.Duration(t.deviations[realtime].at(at[realtime]))
}

// Monotonic is the error of the monotonic clock at a moment.
func (t Timeline) Monotonic(at Moment) time.Duration {
	return time.Duration(t.deviations[monotonic].at(at[monotonic]))
}
