//go:build !linux

package linear

import "time"

// threadTime is the time on the wall where nothing tells that of a thread.
func threadTime() time.Duration { return time.Since(start) }
