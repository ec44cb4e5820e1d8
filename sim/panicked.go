package sim

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"recount/history"
	"recount/internal/panicking"
)

// A process whose algorithm panics ends, as a server does. What panics of Recount's own, while it is told of what the algorithm does or
// between its methods, is a mistake of Recount, and no process's end.

// panicStatus is the exit status of a program in Go that panics.
const panicStatus = 2

// misuse is what Env panics with if an algorithm asks for what there is not.
type misuse string

// enter is called before a method of the algorithm, and leave after it.
func (n *node) enter() { n.c.acting = n.index + 1 }
func (n *node) leave() { n.c.acting = 0 }

// outside tells who listens, in the middle of a method of the algorithm.
func (c *Cluster) outside(tell func()) {
	acting := c.acting
	c.acting = 0
	tell()
	c.acting = acting
}

// panicked ends the process whose algorithm has panicked. It is called where that is recovered, and panics anew if it was none.
func (c *Cluster) panicked(p any) {
	frames := panicking.Frames()
	if _, misused := p.(misuse); misused {
		frames = frames[1:] // the method of Env
	}
	if c.acting == 0 || len(frames) > 0 && own(frames[0]) {
		panic(p)
	}
	n := &c.nodes[c.acting-1]
	n.leave()
	n.panic = strings.Join(strings.Fields(fmt.Sprintf("panic: %v", p)), " ")
	n.wrote = fmt.Appendf(n.wrote, "panic: %v\n", p)
	for _, f := range frames {
		if own(f) {
			break
		}
		n.wrote = fmt.Appendf(n.wrote, "\t%s, %s:%d\n", f.Function, filepath.Base(f.File), f.Line)
	}
	n.exit(panicStatus)
}

// own reports whether a function is the simulator's.
func own(f runtime.Frame) bool {
	return slices.ContainsFunc([]string{"node", "Cluster", "queue", "trap", "disk"}, func(t string) bool {
		return strings.HasPrefix(f.Function, "recount/sim.(*"+t+").")
	})
}

// exit ends a process that ends by itself.
func (n *node) exit(status int) {
	n.stop(history.Down)
	n.c.exited(n.name, status)
}

// Panicked is the panic that a node's process last ended in, on one line; "" if it ended otherwise, or has not ended.
func (c *Cluster) Panicked(name string) string { return c.nodes[c.index(name)].panic }

// Wrote is what each node's processes have written to its log: why those ended that panicked. It is the same for the same seed.
func (c *Cluster) Wrote() map[string][]byte {
	all := map[string][]byte{}
	for i := range c.nodes {
		if n := &c.nodes[i]; len(n.wrote) > 0 {
			all[n.name] = n.wrote
		}
	}
	return all
}
