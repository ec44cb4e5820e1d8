package cli

import (
	"runtime"

	"recount/harness/record"
)

// processors leaves the program no more processors than it makes runs at a time, if those are in virtual time; 0 runs are one a core.
// Such a run is one thread of control, passed on from the loop to clients and back. Each time that it is, a processor with nothing
// to do would be woken, look for work, and sleep again. What is returned takes that back.
func processors(on string, runs int) (back func()) {
	before := runtime.GOMAXPROCS(0)
	if on != record.OnVirtual || runs <= 0 || runs >= before {
		return func() {}
	}
	runtime.GOMAXPROCS(runs)
	return func() { runtime.GOMAXPROCS(before) }
}
