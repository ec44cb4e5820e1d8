package sim

import "time"

// clock is one node's idea of time. Its monotonic clock runs at its own rate and never steps. Its wall clock is the
// monotonic one and an offset, without what that has gained by drifts that are over: when a drift ends the wall clock is
// set right.
type clock struct {
	since  time.Duration // virtual time at which the rate last changed,
	local  time.Duration // and what the monotonic clock read then
	drift  float64       // local seconds gained in a true one
	offset time.Duration // of the wall clock
	boot   time.Duration // what the monotonic clock read at time 0
	kept   time.Duration // what it has gained by drifts that are over
}

func newClock(boot time.Duration) clock { return clock{local: boot, boot: boot} }

// epoch is when every simulated run takes place.
var epoch = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)

func (c *clock) at(now time.Duration) time.Duration {
	d := now - c.since
	if c.drift != 0 {
		d += time.Duration(float64(d) * c.drift)
	}
	return c.local + d
}

// until returns the first time from now on, in virtual time, at which the monotonic clock reads local or more.
func (c *clock) until(now, local time.Duration) time.Duration {
	d := local - c.at(now)
	if d <= 0 {
		return now
	}
	if c.drift == 0 {
		return now + d
	}
	at := now + time.Duration(float64(d)/(1+c.drift))
	for c.at(at) < local { // rounding
		at++
	}
	return at
}

// set changes how the clock errs from now on, without a step of the monotonic clock.
func (c *clock) set(now, offset time.Duration, drift float64) {
	c.local, c.since = c.at(now), now
	c.offset, c.drift = offset, drift
	if drift == 0 {
		c.kept = c.gained(now)
	}
}

// gained is by how much the monotonic clock is ahead of true time.
func (c *clock) gained(now time.Duration) time.Duration { return c.at(now) - c.boot - now }

// wall is what the wall clock reads, since the epoch.
func (c *clock) wall(now time.Duration) time.Duration { return now + c.gained(now) - c.kept + c.offset }
