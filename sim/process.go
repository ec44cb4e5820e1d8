package sim

import (
	"time"

	"recount/election"
)

// Process is one life of a node's process, for what lives in it besides the algorithm.
type Process struct {
	n    *node
	life uint32
}

// Status is the node's view, now.
func (p *Process) Status() election.Status {
	p.n.changed() // it may depend on the clock
	return p.n.last
}

// After calls f once d has passed on the node's clock: not while it is paused, and never after this life has ended.
func (p *Process) After(d time.Duration, f func()) {
	n := p.n
	e := n.c.queue.add(n.clock.Until(n.c.now, n.Now()+d))
	e.kind, e.node, e.life, e.fn = hosted, n.index, p.life, f
}

// Name is the node's name.
func (p *Process) Name() string { return p.n.name }

// Life counts the node's processes from 1.
func (p *Process) Life() uint32 { return p.life }
