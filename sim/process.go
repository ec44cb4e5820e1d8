package sim

import (
	"time"

	"recount/election"
	"recount/history"
)

// Process is one life of a node's process, for what lives in it besides the algorithm.
type Process struct {
	n    *node
	life uint32
}

// Watch has the process look at the node's status after each such time, until sees returns false of it. It looks for one at a
// time. Where a look would show what the last one has shown, sees need not be called.
func (p *Process) Watch(every time.Duration, sees func(election.Status) (again bool)) {
	n := p.n
	n.sees, n.every, n.shown = sees, every, -1
	e := n.c.queue.addAfter(every, n.after(every))
	e.kind, e.node, e.life = look, n.index, p.life
}

// looks has who watches the process look at its status.
func (n *node) looks(slot int32) {
	n.changed() // it may depend on the clock
	n.shown = n.changes
	if n.sees(n.last) {
		n.lookAgain(slot)
	} else {
		n.c.queue.release(slot)
	}
}

// lookAgain has the next look come.
func (n *node) lookAgain(slot int32) {
	n.c.queue.putAfter(n.every, n.after(n.every), slot)
}

// same reports whether a look at this moment would surely show what the last one has shown.
func (n *node) same() bool {
	return n.state == history.Up && n.shown == n.changes && !n.timed && n.busy < n.c.now && !n.disk.ill && n.cpu.Share == 0
}

// After calls f once d has passed on the node's clock: not while it is paused, and never after this life has ended.
func (p *Process) After(d time.Duration, f func()) {
	n := p.n
	e := n.c.queue.addAfter(d, n.after(d))
	e.kind, e.node, e.life, e.fn = hosted, n.index, p.life, f
}

// after is when d has passed on the node's clock.
func (n *node) after(d time.Duration) time.Duration {
	return n.clock.Until(n.c.now, n.clock.At(n.now())+d)
}

// Name is the node's name.
func (p *Process) Name() string { return p.n.name }

// Life counts the node's processes from 1.
func (p *Process) Life() uint32 { return p.life }
