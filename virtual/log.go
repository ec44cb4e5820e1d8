package virtual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"recount/internal/appended"
	"recount/internal/bounded"
)

// What programs write to their standard output and error is kept in a file of each, which lies in memory.

// Logs calls line with each line that the node writes to its standard output and error, and to its Program's Log, through all its lives. It must be
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
			if err == nil {
				text = append(text, n.keeps(i).Rest()...)
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

// readFile takes what the node has appended to its log that is a file. Of a process that is over it is the last.
func (n *node) readFile(p *proc) {
	path := n.logFile()
	if path == "" || n.logs == nil || p.program > 0 {
		return
	}
	if n.file == nil || n.file.Path != path {
		n.file = &appended.File{Path: path}
	}
	for {
		text, err := n.file.Next(n.root)
		if n.unread = err; len(text) == 0 {
			return
		}
		n.heard = true
		p.output(ofFile, text)
	}
}

// Unlogged tells of each node that has a Log, and of which nothing was read there, why not.
func (c *Cluster) Unlogged() map[string]error {
	all := map[string]error{}
	for _, n := range c.nodes {
		if path := n.logFile(); path != "" && n.logs != nil && !n.heard {
			if all[n.name] = n.unread; n.unread == nil {
				all[n.name] = fmt.Errorf("%s is not there, or empty", path)
			}
		}
	}
	return all
}

// keep writes to the program's log what there is room for, as in a container. Stacks of goroutines are kept in any case.
func (p *proc) keep(b []byte) {
	kept := p.node.keeps(p.program)
	kept.To = p.log
	kept.Write(b)
}

// keeps is what is kept of a program's log.
func (n *node) keeps(program int) *bounded.Log {
	if n.kept[program] == nil {
		n.kept[program] = &bounded.Log{Room: bounded.MaxLog}
	}
	return n.kept[program]
}

// log is the file that a program's output goes to.
func (n *node) log(program int) string {
	name := n.name
	if program > 0 {
		name = fmt.Sprintf("%s-sidecar-%d", n.name, program)
	}
	return filepath.Join(n.c.folder.Name(), "log-"+name+".log")
}
