//go:build !linux || !(amd64 || arm64)

package clock

import (
	"errors"
	"runtime"
	"time"
)

var errUnsupported = errors.New("clocks can be skewed on Linux on amd64 and arm64 only, not on " + runtime.GOOS + " on " + runtime.GOARCH)

// Patch is a process whose clocks can be skewed. Here there is none.
type Patch struct{}

// Install fails.
func Install(int, Timeline, time.Duration) (*Patch, error) { return nil, errUnsupported }

// Timeline fails.
func (*Patch) Timeline() (Timeline, error) { return Timeline{}, errUnsupported }

// Turn fails.
func (*Patch) Turn(Skew) (time.Time, error) { return time.Time{}, errUnsupported }

// Measure fails.
func (*Patch) Measure(time.Duration) (Sample, error) { return Sample{}, errUnsupported }

// Waits sees none.
func Waits(int) (wall, monotonic bool) { return false, false }

// Now is no moment.
func Now() Moment { return Moment{} }
