package virtual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// What programs write to their standard output and error is kept in a file of each, which lies in memory.

// maxLog is how much is kept of what one program has written in all its lives, from its beginning, in bytes: as of a container. Stacks of
// goroutines are kept in any case.
const maxLog = 256 << 20

// Logs calls line with each line that the node writes to its standard output and error, through all its lives. It must be
// called before Launch.
func (c *Cluster) Logs(node string, line func(text string)) { c.named(node).logs = line }

// SaveLogs writes the log of each node, and of the programs beside it, to a folder: n1.log, n1-sidecar-1.log.
func (c *Cluster) SaveLogs(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("save the logs of nodes: %w", err)
	}
	for _, n := range c.nodes {
		for i := range n.programs {
			text, err := os.ReadFile(n.log(i))
			if over := n.told[i] - maxLog; over > 0 {
				text = fmt.Appendf(text, "\n[recount: the log goes on for %d bytes that are left out: no more than %d MiB are kept of each]\n", over, maxLog>>20)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, strings.TrimPrefix(filepath.Base(n.log(i)), "log-")), text, 0o644)
			} else if os.IsNotExist(err) {
				err = nil // it was never started
			}
			if err != nil {
				return fmt.Errorf("save the logs of nodes: %w", err)
			}
		}
	}
	return nil
}

// keep writes to the program's log what there is room for.
func (p *proc) keep(b []byte) {
	room := maxLog - p.node.told[p.program]
	p.log.Write(b[:max(0, min(len(b), room))])
	p.node.told[p.program] += len(b)
}

// log is the file that a program's output goes to.
func (n *node) log(program int) string {
	name := n.name
	if program > 0 {
		name = fmt.Sprintf("%s-sidecar-%d", n.name, program)
	}
	return filepath.Join(n.c.folder.Name(), "log-"+name+".log")
}
