package clock

import "time"

// A slew brings clocks back that have gained or lost by drifting: a monotonic clock must not step.
//
// A wait inside the kernel until an absolute time goes by the true clock. One that begins while a clock is ahead lasts too
// long, by as much. A slew that takes back at most a second a second is over when every such wait has caught up: of what a
// program began before it, nothing goes on for longer after it than it was to.
const (
	shortestSlew = 100 * time.Millisecond
	gentleSlew   = 5 * time.Second // a slew takes so long at most, where that is not too fast
	// LongestSlew bounds a slew. What a clock has gained beyond nine tenths of it, it keeps.
	LongestSlew = 20 * time.Second

	gentleFactor = 10 // a slew takes so many times what it takes back, where that is not too slow
	slowest      = -0.9
	rounded      = time.Microsecond // a slew may take so much longer because its rate is a whole number
	gentlest     = 0.5              // a slew is no faster unless it would be too long
)

// slewRate is at which rate an error is taken back, where back is minus that error.
func slewRate(back int64) int64 {
	size := time.Duration(max(back, -back))
	took := min(max(size*gentleFactor, shortestSlew), gentleSlew)
	took = max(took, min(time.Duration(float64(size)/gentlest), LongestSlew))
	return rateOf(max(float64(back)/float64(took), slowest))
}

// land returns where a slew ends: where the clock is right, or else where it has gone on for long enough, and whether it is
// the former. The error is never less than it was before.
func (l deviation) land(right int64) (landed deviation, whole bool) {
	back := right - l.Offset
	took := int64(float64(back) / float64(l.Rate) * (1 << 32))
	if took < 0 || took > int64(LongestSlew+rounded) {
		end := l.Base + int64(LongestSlew)
		return deviation{Offset: l.at(end) + 1, Base: end, Before: l.Rate}, false // one more for rounding
	}
	landed = deviation{Offset: right, Base: l.Base + took, Before: l.Rate}
	for later := int64(1); landed.at(l.Base) <= l.Offset; { // rounding
		if l.Rate > 0 {
			later = -1
		}
		landed.Base += later
	}
	return landed, true
}
