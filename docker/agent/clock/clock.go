// Package clock makes the clocks of running programs err: of unmodified ones, static Go binaries included, and of no
// others on the machine.
//
// A program reads its clocks in the vDSO, code that the kernel maps into every process and that asks the kernel
// nothing. Install stops a process for a millisecond or two, has it map two regions more, and redirects the entries
// clock_gettime, gettimeofday and time of its vDSO to code in the first. That code reads the real clock and adds to it
// what the second, the data, says. To change the error later is to write some hundred bytes there, which stops nobody.
//
// The wall clock (CLOCK_REALTIME and its kin) may jump and drift. The monotonic clock (CLOCK_MONOTONIC and its kin) may
// drift and never steps: what it has gained by drifting it gives back by slewing, so that in the end it is right again.
//
// Children made by fork share their parent's data. A process that executes another program gets a new vDSO, and so loses
// the patch, which shows as ErrLost. Not skewed are system calls made directly, waits inside the kernel until an
// absolute time, which Waits sees, and the times of files.
package clock

import (
	"errors"
	"fmt"
	"time"
)

// Skew is how the clocks of a process err. The zero Skew is healthy.
type Skew struct {
	Offset time.Duration // added to the wall clock
	Drift  float64       // what the wall and the monotonic clock gain in a second, in seconds
}

// The errors that there may be. Beyond them clocks would stand still, run back, or leave what 64 bits can tell.
const (
	maxOffset = 50 * 365 * 24 * time.Hour // either way
	minDrift  = -0.9
	maxDrift  = 10
)

// Check tells whether clocks can err so.
func (s Skew) Check() error {
	if s.Offset < -maxOffset || s.Offset > maxOffset {
		return fmt.Errorf("an offset of %v is beyond fifty years", s.Offset)
	}
	if !(s.Drift >= minDrift && s.Drift <= maxDrift) {
		return fmt.Errorf("a drift of %v is not between %v and %v", s.Drift, minDrift, maxDrift)
	}
	return nil
}

// What may become of a process between two calls.
var (
	ErrGone = errors.New("the process has ended")
	ErrLost = errors.New("the process runs another program since, whose clocks are not patched")
)
