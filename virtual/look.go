package virtual

import (
	"os"
	"time"

	"recount/history"
)

// Look is a moment of a run at which somebody looks at what its processes do: the run is the same as without, unless that ends it.
type Look struct {
	At time.Duration          // of the run
	Do func(c *Cluster) error // is called then, before anything else of that instant; nothing goes on until it returns. An error ends the run
}

// Process is a process of the run at a moment, in which it waits for its turn.
type Process struct {
	Which
	State history.ProcState // of its node
	PID   int               // as the kernel has it: a debugger may attach to it
	Path  string            // of its executable
	p     *proc
}

// Processes are those that run, in the order of their nodes.
func (c *Cluster) Processes() (all []Process) {
	for _, p := range c.procs {
		all = append(all, Process{p.which(), p.node.state, p.life.PID(), p.node.programs[p.program].Path, p})
	}
	return all
}

// Quit ends a process and returns what its goroutines were at. The run cannot go on after that.
func (p Process) Quit() ([]Goroutines, error) {
	log := p.p.node.log(p.p.program)
	before, err := os.Stat(log)
	if err != nil {
		return nil, err
	}
	p.p.life.Quit()
	text, err := os.ReadFile(log)
	if err != nil {
		return nil, err
	}
	return goroutines(string(text[before.Size():])), nil
}
