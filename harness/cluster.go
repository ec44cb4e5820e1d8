package harness

import (
	"context"
	"time"

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
