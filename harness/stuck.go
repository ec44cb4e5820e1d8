package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"recount/harness/record"
	"recount/sim"
)

// An algorithm in simulation that loops or waits in a method holds up all else, and nothing can break it off. Then at least it is said
// where, and whoever has had enough of it gets away.

// stuckAfter is how long by the wall clock a second or less of the simulation takes at most, which is milliseconds otherwise.
const stuckAfter = 10 * time.Second

// patienceWithStuck is how long a program lasts that was asked to end, and cannot.
const patienceWithStuck = 5 * time.Second

// Run is the simulator's, watched.
func (c *simulated) Run(ctx context.Context, until time.Duration) error {
	if c.watch == nil {
		c.watch = time.AfterFunc(stuckAfter, func() { c.stuck(ctx) })
	} else {
		c.watch.Reset(stuckAfter)
	}
	defer func() {
		c.watch.Stop()
		c.turns.Add(1)
	}()
	return c.Cluster.Run(ctx, until)
}

// stuck is called when a turn takes too long, and returns once it is over.
func (c *simulated) stuck(ctx context.Context) {
	turn, at := c.turns.Load(), stuckAt(c.Cluster)
	if at == "" {
		return // it has just gone on
	}
	fmt.Fprintf(os.Stderr, "recount: the election has not returned from %s for %v, and holds up all else\n", at, stuckAfter)
	fmt.Fprintln(os.Stderr, "recount: hint: no method of a node may wait, or work without end; Ctrl-C ends the program")
	for c.turns.Load() == turn { // what has gone on keeps nothing in memory
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			time.Sleep(patienceWithStuck)
			if c.turns.Load() == turn {
				os.Exit(record.StatusFailed)
			}
		}
	}
}

// method is a function's line of a stack, and its place below it.
var method = regexp.MustCompile(`(?m)^(\S+)\(.*\n\t(\S+):(\d+)`)

// stuckAt is the method of the algorithm that a cluster is calling now, and where; "" if it is calling none.
func stuckAt(c *sim.Cluster) string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, one := range strings.Split(string(stacks), "\n\n") {
		if !strings.Contains(one, fmt.Sprintf("recount/sim.(*Cluster).run(%p", c)) {
			continue
		}
		at := ""
		for _, f := range method.FindAllStringSubmatch(one, -1) {
			if strings.HasPrefix(f[1], "recount/sim.") {
				break
			}
			if !strings.HasPrefix(f[1], "runtime.") {
				at = fmt.Sprintf("%s (%s:%s)", f[1], filepath.Base(f[2]), f[3])
			}
		}
		return at
	}
	return ""
}
