package virtual

import (
	"slices"
	"time"
)

// Life is one life of a node, for what lives in it besides its programs and is the harness's own. It is killed and paused
// together with them, and has the node's clock.
type Life struct {
	n      *node
	number uint64
	dues   []due // in the order in which they were added
}

// due is what a life is to do once its node's monotonic clock reads so much.
type due struct {
	at time.Duration
	f  func()
}

// OnStart calls f with each life of a node that begins, once its programs were started, after all that OnStart was told before. It must be
// called before Launch.
func (c *Cluster) OnStart(f func(l *Life)) { c.onStart = append(c.onStart, f) }

// Node is the node's name.
func (l *Life) Node() string { return l.n.name }

// Number counts the node's lives from 1.
func (l *Life) Number() uint64 { return l.number }

// After calls f once d has passed on the node's clock: not while it is paused, and never after this life has ended.
func (l *Life) After(d time.Duration, f func()) {
	l.dues = append(l.dues, due{l.n.clock.At(l.n.c.now) + max(d, 0), f})
}

// over tells whether the life has ended.
func (l *Life) over() bool { return l.n.present != l || !l.n.runs() }

// first is the place of what is due first; -1 if there is nothing.
func (l *Life) first() int {
	first := -1
	for i, d := range l.dues {
		if first < 0 || d.at < l.dues[first].at {
			first = i
		}
	}
	return first
}

// wants is when the life is to go on.
func (l *Life) wants() time.Duration {
	i := l.first()
	if i < 0 || l.over() || l.n.still() {
		return forever
	}
	return l.n.cpu.Goes(max(l.n.clock.Until(l.n.c.now, l.dues[i].at), l.n.procs[0].floor))
}

// run does what is due at this instant, and what becomes due by that.
func (l *Life) run() {
	for l.wants() <= l.n.c.now {
		i := l.first()
		f := l.dues[i].f
		l.dues = slices.Delete(l.dues, i, i+1)
		f()
	}
}
