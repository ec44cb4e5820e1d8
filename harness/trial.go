package harness

import (
	"context"
	"path/filepath"
	"time"

	"recount/harness/record"
)

// trial is a cluster of a real system's nodes that a Probe looks at, in containers or in virtual time.
type trial interface {
	Cluster
	tellsAlarms
	// do calls f where nodes can be asked, with a context that ends within answers' patience, and returns when it has come to an end.
	do(ctx context.Context, node string, f func(ctx context.Context)) error
	// node is what is asked for a node's view.
	node(name string) asked
	// first is what runs the first node, and with which arguments.
	first() (image string, args []string)
	// alone are the ports of TCP on which a node waits for connections at its loopback, where no other node reaches it; none where nobody can tell.
	alone(ctx context.Context, node string) []int
	// register is how a node's number is read and written for clients; nil where it keeps none.
	register(node string) (get func(context.Context) (uint64, error), put func(context.Context, uint64) error)
	// Unread says which lines of nodes' logs could not be read, and which nodes could not be told that they have begun.
	Unread() string
	// gone is what is to be said of the first process that ended by itself.
	gone() string
}

// openTrial makes the cluster of a trial. Nothing runs on it yet.
func openTrial(ctx context.Context, s *subject, dir string, cfg Config) (trial, error) {
	if s.On == record.OnVirtual {
		return openVirtual(ctx, &run{subject: s, Config: cfg})
	}
	return openContainers(ctx, s, record.RunID(dir), cfg)
}

// trialPatience is how long an answer is waited for in a trial, and until a node is ready: slow ones are to be told apart from none.
const trialPatience = 5 * time.Second

func (c *containers) do(ctx context.Context, _ string, f func(ctx context.Context)) error {
	within, cancel := context.WithTimeout(ctx, trialPatience)
	defer cancel()
	f(within)
	return nil
}

func (c *containers) node(name string) asked { return c.asked[name] }
func (c *containers) first() (string, []string) {
	return c.images["n1"], c.system.Container(c.members[0], c.members).Command
}

func (c *virtualized) do(ctx context.Context, node string, f func(ctx context.Context)) error {
	done := false
	c.Do(node, func() func() {
		within, cancel := context.WithTimeout(context.Background(), trialPatience)
		defer cancel()
		f(within)
		return func() { done = true }
	})
	for !done {
		if err := c.Run(ctx, c.Now()+time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func (c *virtualized) node(name string) asked { return c.asked[name] }
func (c *virtualized) first() (image string, args []string) {
	c.Inside(func() { args = c.programs(c.members[0])[0].Args })
	return filepath.Base(c.paths["n1"]) + ", built for virtual time", args
}
