package member

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot is what the machine's monotonic clock reads.
func sinceBoot() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
