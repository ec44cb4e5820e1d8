package member

import (
	"context"
	"math/rand/v2"
	"net"
	"time"

	"recount/election"
	"recount/workloads"
)

// WriterConfig is how a node's writer works. See workloads.Writer.
type WriterConfig struct {
	Every time.Duration                               // from one look whether this node leads to the next
	Gap   time.Duration                               // from a look to the write, at most
	Dial  func(ctx context.Context) (net.Conn, error) // to the resource
}

// residentWriter is the workloads.Host in the process of an algorithm.
type residentWriter struct {
	*host
	rand     *rand.Rand
	resource *resource
}

// Watch implements workloads.Host.
func (w *residentWriter) Watch(every time.Duration, sees func(election.Status) (again bool)) {
	workloads.Poll(w, every, sees)
}

// Status is what the algorithm says now: that may depend on its clock.
func (w *residentWriter) Status(done func(election.Status)) {
	w.changed()
	done(w.status)
}

func (w *residentWriter) Rand() *rand.Rand                { return w.rand }
func (w *residentWriter) Write(token uint64, value int64) { w.resource.write(token, value) }
func (w *residentWriter) After(d time.Duration, f func()) {
	w.calls.add(w.Now()+d, f)
}
