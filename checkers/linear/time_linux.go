package linear

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is how long the calling thread has been on a processor.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return time.Since(start)
	}
	return time.Duration(t.Nano())
}
