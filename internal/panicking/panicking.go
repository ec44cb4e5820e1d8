// Package panicking tells where a panic came from.
package panicking

import (
	"runtime"
	"strings"
)

// Frames returns, innermost first, the functions in which the panic began that the caller, a deferred function, is recovering. One that
// was recovered on the way and raised anew began where it did at first.
func Frames() (all []runtime.Frame) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	panicked := false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			all, panicked = nil, true
		case panicked && (len(all) > 0 || !strings.HasPrefix(f.Function, "runtime.")):
			all = append(all, f)
		}
		if !more {
			return all
		}
	}
}
