package harness

import (
	"context"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
	"recount/workloads"
)

// Cluster is where a run takes place: the simulator or containers. All but Close belongs to the run's loop.
type Cluster interface {
	nemesis.Cluster
	workloads.Cluster
	// Writers lets a workloads.Writer live with every node and write to f. It is called before Start.
	Writers(f *workloads.Fence, every, gap time.Duration)
	// OnStall calls f when the machine itself stood still for so long.
	OnStall(f func(d time.Duration))
	// OnExit calls f when a node's process has ended by itself.
	OnExit(f func(node string, code int))
	// ReadClocks tells done how wrong the clocks are of the nodes that run, as far as that can be known.
	ReadClocks(done func(map[string]history.Reading))
	// Start brings every node up.
	Start(ctx context.Context) error
	// Run lets the loop go on until then. It fails if ctx ends first or the cluster is lost.
	Run(ctx context.Context, until time.Duration) error
	// State is what is not healthy in the cluster, read from the cluster itself.
	State(ctx context.Context) (history.Changes, error)
	// SaveLogs writes each node's output to <name>.log in a folder, if nodes have output.
	SaveLogs(ctx context.Context, dir string) error
	// Close removes the cluster and all it left behind, also when ctx has ended: the cluster itself bounds how long that
	// takes. It may be called more than once.
	Close(ctx context.Context) error
}

// What only some clusters can do besides, for which a run asks them by these types.
type (
	// tellsTraps tells of each trap that has sprung.
	tellsTraps interface {
		OnSprung(f func(id int, what string, did history.Changes))
	}
	// heedsViews is told what nodes are seen to be: a trap may wait for that.
	heedsViews interface {
		Seen(node string, now history.View)
	}
	// hears fails where nodes send what the network does not carry.
	hears interface {
		Unheard(ctx context.Context) error
	}
	// tellsHash tells a hash of all that the nodes did, which is the same each time.
	tellsHash interface{ Hash() uint64 }
	// tellsUnread tells in words of answers that could not be read.
	tellsUnread interface{ Unread() string }
	// tellsSometimes tells how often lines came of a kind that is to come sometimes.
	tellsSometimes interface{ Came() []record.Sometimes }
	// tellsAlarms tells of each line of a node's log that is an alarm. It is asked to before Start.
	tellsAlarms interface {
		OnAlarm(f func(node, line string))
	}
	// tellsPanics tells what a node's process ended with that panicked; elsewhere only logs do.
	tellsPanics interface{ Panicked(node string) string }
)

// Which clusters can: one that had lost the method would be passed over without a word.
var (
	_ = [...]tellsTraps{(*simulated)(nil), (*virtualized)(nil), (*containers)(nil)}
	_ = [...]heedsViews{(*virtualized)(nil), (*containers)(nil)}
	_ = [...]hears{(*containers)(nil)}
	_ = [...]tellsHash{(*virtualized)(nil)}
	_ = [...]tellsUnread{(*virtualized)(nil), (*containers)(nil)}
	_ = [...]tellsAlarms{(*virtualized)(nil), (*containers)(nil)}
	_ = [...]tellsSometimes{(*virtualized)(nil), (*containers)(nil)}
	_ = [...]tellsPanics{(*simulated)(nil)}
)
