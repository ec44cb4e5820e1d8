package workloads

import (
	"math/rand/v2"
	"time"

	"recount/election"
)

// Host is the process that a Writer lives in: the node's own, so that a paused node is a paused writer.
type Host interface {
	// Watch finds out the node's view after each such time, counted from the answer to the last, and calls sees with it until that
	// returns false. Like what After calls, sees is never called while the process is paused, and never once it is dead; and it
	// need not be called with a view that is the same as the last.
	Watch(every time.Duration, sees func(election.Status) (again bool))
	// After calls f once d has passed for this process: never while it is paused, and never once it is dead.
	After(d time.Duration, f func())
	// Rand is the writer's source of randomness.
	Rand() *rand.Rand
	// Write sends a write to the guarded resource. Nothing waits for the answer.
	Write(token uint64, value int64)
}

// Writer is the worker that a leader is elected for: while its node leads, it writes to a resource, with the term as
// fencing token. Between looking whether it leads and writing lies a gap, as there is in life: a pause there makes the
// write stale.
type Writer struct {
	host  Host
	every time.Duration // from one look to the next
	gap   time.Duration // from the look to the write, at most
	token uint64
	value int64
	saw   func(election.Status) (again bool)
	write func()
}

// NewWriter returns the writer of one life of a node, which looks every so often and writes within gap of the look. Values
// count up from 1 and carry the node and the life in their upper half, so that no two writers write the same one.
func NewWriter(host Host, node election.ID, life uint64, every, gap time.Duration) *Writer {
	w := &Writer{host: host, every: every, gap: gap, value: (int64(node)<<16 | int64(life&0xffff)) << 32}
	w.saw = func(s election.Status) (again bool) {
		if s.Role != election.Leader {
			return true
		}
		w.token = s.Term
		w.host.After(time.Duration(w.host.Rand().Int64N(int64(w.gap)+1)), w.write)
		return false
	}
	w.write = func() {
		w.value++
		w.host.Write(w.token, w.value)
		w.Start()
	}
	return w
}

// Start begins to look.
func (w *Writer) Start() { w.host.Watch(w.every, w.saw) }

// Remote is a Host whose node has to be asked for its view.
type Remote interface {
	// Status finds out the node's view and calls done with it: at once, or once the node has answered.
	Status(done func(election.Status))
	After(d time.Duration, f func())
}

// Poll is Watch for a Remote: it asks each time.
func Poll(r Remote, every time.Duration, sees func(election.Status) (again bool)) {
	r.After(every, func() {
		r.Status(func(s election.Status) {
			if sees(s) {
				Poll(r, every, sees)
			}
		})
	})
}
