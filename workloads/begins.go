package workloads

import (
	"time"

	"recount/history"
)

// Begins has nodes announce what their processes begin as, where these do not say so themselves: whoever has announced nothing since its
// process was started, for as long as a line of its log may be on its way. Up tells when those that are there from the beginning were.
func (all *Observers) Begins(nodes []string, as history.View, after time.Duration) {
	for _, n := range nodes {
		b := &beginner{Observers: all, node: n, as: as, after: after, quiet: true}
		all.recorder.Watch(b.see)
		all.beginners = append(all.beginners, b)
	}
}

// Up tells that all nodes run.
func (all *Observers) Up() {
	for _, b := range all.beginners {
		b.becomes(history.Up)
	}
}

// beginner is a node that says nothing of what its process begins as.
type beginner struct {
	*Observers
	node  string
	as    history.View
	after time.Duration
	quiet bool // nothing was announced since its process was to be started
	news  int  // how often it was heard what became of it
	exits bool // its process has ended by itself since the nemesis began the last thing that it did
}

// see takes note of what the node says, and of what becomes of its process.
func (b *beginner) see(op *history.Op) {
	switch {
	case op.F == history.Announce && op.Node == b.node:
		b.quiet = false
		b.news++
	case op.F == history.Exit && op.Node == b.node:
		b.exits = true
		b.becomes(history.Down)
	case op.Type == history.Invoke && op.Fault != nil:
		b.exits = false
	case op.Type == history.OK && op.Fault != nil:
		for _, p := range op.Fault.Procs {
			if p.Node == b.node && (!b.exits || p.State != history.Up) { // what was started may be what has ended meanwhile
				b.becomes(p.State)
			}
		}
	}
}

// becomes takes note of what has become of the node's process. What one began as that runs is announced, unless something else is heard of it
// before.
func (b *beginner) becomes(state history.ProcState) {
	b.quiet = b.quiet || state.Ended()
	b.news++
	if !b.quiet || state != history.Up {
		return
	}
	known := b.news
	b.cluster.After(b.after, func() {
		if known == b.news && !b.stopped {
			b.announce(b.node, b.as)
		}
	})
}
