package virtual

import (
	"time"

	"recount/internal/later"
)

// loop is the run's one thread of control, in virtual time: events happen in order of time, and those of one time in the
// order in which they were added.
type loop struct {
	now time.Duration
	due later.Queue[func()]
}

// Now is the time since the run began.
func (l *loop) Now() time.Duration { return l.now }

// After calls f once d has passed.
func (l *loop) After(d time.Duration, f func()) { l.due.Add(l.now+max(d, 0), f) }
