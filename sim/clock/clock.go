// Package clock is a node's idea of time in a cluster in virtual time, and how it errs.
package clock

import "time"

// Epoch is when every run takes place: what a wall clock that is right reads at its beginning.
var Epoch = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)

// Clock is one node's idea of time. Its monotonic clock runs at its own rate and never steps. Its wall clock is the
// monotonic one and an offset, without what that has gained by drifts that are over: when a drift ends the wall clock is
// set right. The times given to its methods are virtual time since the run began.
type Clock struct {
	Offset time.Duration // of the wall clock
	Drift  float64       // local seconds gained in a true one

	since time.Duration // virtual time at which the rate last changed,
	local time.Duration // and what the monotonic clock read then
	boot  time.Duration // what the monotonic clock read at time 0
	kept  time.Duration // what it has gained by drifts that are over
}

// New returns a clock that is right, and whose monotonic reading is boot at time 0.
func New(boot time.Duration) Clock { return Clock{local: boot, boot: boot} }

// At is what the monotonic clock reads.
func (c *Clock) At(now time.Duration) time.Duration {
	d := now - c.since
	if c.Drift != 0 {
		d += time.Duration(float64(d) * c.Drift)
	}
	return c.local + d
}

// Until returns the first time from now on, in virtual time, at which the monotonic clock reads local or more.
func (c *Clock) Until(now, local time.Duration) time.Duration {
	d := local - c.At(now)
	if d <= 0 {
		return now
	}
	if c.Drift == 0 {
		return now + d
	}
	at := now + time.Duration(float64(d)/(1+c.Drift))
	for c.At(at) < local { // rounding
		at++
	}
	return at
}

// Set changes how the clock errs from now on, without a step of the monotonic clock.
func (c *Clock) Set(now, offset time.Duration, drift float64) {
	c.local, c.since = c.At(now), now
	c.Offset, c.Drift = offset, drift
	if drift == 0 {
		c.kept = c.Gained(now)
	}
}

// Gained is by how much the monotonic clock is ahead of true time.
func (c *Clock) Gained(now time.Duration) time.Duration { return c.At(now) - c.boot - now }

// Wall is what the wall clock reads, since the Epoch.
func (c *Clock) Wall(now time.Duration) time.Duration { return now + c.Gained(now) - c.kept + c.Offset }
