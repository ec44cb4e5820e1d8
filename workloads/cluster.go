package workloads

import (
	"time"

	"recount/election"
	"recount/history"
)

// Cluster is what workloads need of the place where the nodes run. All of it belongs to the run's one loop: the methods
// return at once, and the functions given to them are called later, one at a time, on that loop.
type Cluster interface {
	// Now is the time since the run began.
	Now() time.Duration
	// After calls f once d has passed.
	After(d time.Duration, f func())
	// Observe asks a node for its view. done is called once; with an error if the node certainly gave no answer. A
	// paused node may never lead to a call.
	Observe(node string, done func(history.View, error))
	// OnAnnounce calls f with every change of view that a node reports by itself.
	OnAnnounce(f func(node string, v history.View))
	// OnGranted calls f with every vote that a node reports to have granted.
	OnGranted(f func(node string, v history.Vote))
	// OnApplied calls f with every update that a node reports to have applied.
	OnApplied(f func(node string, u history.Update))
	// Command has a node carry out a command. done is called once, with an error if it certainly was not carried out; or
	// never, and then nobody knows.
	Command(node string, c election.Command, done func(value uint64, err error))
}
