package nemesis

import (
	"time"

	"recount/history"
)

// Cluster is what the nemesis needs of the place where the nodes run. All of it belongs to the run's one loop: After and
// Apply return at once, and the functions given to them are called later, one at a time, on that loop.
type Cluster interface {
	// Now is the time since the run began.
	Now() time.Duration
	// After calls f once d has passed.
	After(d time.Duration, f func())
	// Can tells whether this cluster is able to impose such changes: nil, or an error that says what it cannot do.
	Can(c history.Changes) error
	// Apply brings links, processes, clocks and disks into the states that c names, as nearly at once as it can, then looks
	// whether they are. A change is to a state, not by an amount: applying it twice is harmless.
	Apply(c history.Changes, done func(history.Effect))
}
