//go:build linux

package agent

import (
	"time"

	"recount/docker/agent/clock"
)

// waits tells what became of waits of one node's processes inside the kernel until an absolute time. They go by the true
// clock: with a clock that is ahead a wait lasts too long, by as much as the clock was ahead when it began, and with one
// that is behind it ends at once.
//
// Such waits are not for the eye alone: by what was seen of them a checker tells what the skew may have done to the program
// that no clock that errs would have done.
type waits struct {
	wall, monotonic           bool          // seen: waits by that clock
	wallWrong, monotonicWrong time.Duration // the largest error that the clock has had
}

// look takes note of the waits of a process, and of what its clocks tell.
func (w *waits) look(pid int, line clock.Timeline) {
	wall, monotonic := clock.Waits(pid)
	w.wall, w.monotonic = w.wall || wall, w.monotonic || monotonic
	now := clock.Now()
	w.wallWrong = max(w.wallWrong, line.Wall(now).Abs())
	w.monotonicWrong = max(w.monotonicWrong, line.Monotonic(now).Abs())
}

// wrong is by how much waits may have been wrong, at the worst; 0 if no such wait was seen.
func (w *waits) wrong() (d time.Duration) {
	if w.wall {
		d = w.wallWrong
	}
	if w.monotonic {
		d = max(d, w.monotonicWrong)
	}
	return d
}
