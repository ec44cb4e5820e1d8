package workloads

import (
	"math/rand/v2"
	"time"

	"recount/election"
)

// Host is the process that a Writer lives in: the node's own, so that a paused node is a paused writer.
type Host interface {
	// Status is the node's view, now.
	Status() election.Status
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
	look  func()
	write func()
}

// NewWriter returns a writer that looks every so often and writes within gap of the look. Values count up from 1 and
// carry first in their upper half, so that no two writers write the same one.
func NewWriter(host Host, first int32, every, gap time.Duration) *Writer {
	w := &Writer{host: host, every: every, gap: gap, value: int64(first) << 32}
	w.look = func() {
		if s := w.host.Status(); s.Role == election.Leader {
			w.token = s.Term
			w.host.After(time.Duration(w.host.Rand().Int64N(int64(w.gap)+1)), w.write)
			return
		}
		w.host.After(w.every, w.look)
	}
	w.write = func() {
		w.value++
		w.host.Write(w.token, w.value)
		w.host.After(w.every, w.look)
	}
	return w
}

// Start begins to look.
func (w *Writer) Start() { w.host.After(w.every, w.look) }
