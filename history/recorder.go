package history

import (
	"fmt"
	"io"
	"slices"
)

// Recorder appends ops to a history as they happen: to a writer as JSON lines, to memory, and to whoever listens.
// It belongs to the run's loop: it is not safe for concurrent use.
type Recorder struct {
	ops     []Op
	w       io.Writer
	buf     []byte
	hold    int // bytes to gather before a write
	err     error
	watches []func(*Op)
}

// NewRecorder records to w, writing whenever hold bytes have gathered: 0 writes each op as it comes, so that a killed
// run loses none. A nil w records to memory alone.
func NewRecorder(w io.Writer, hold int) *Recorder { return &Recorder{w: w, hold: hold} }

// Reserve makes room in memory for n ops, so that a long history need not be moved again and again as it grows.
func (r *Recorder) Reserve(n int) { r.ops = slices.Grow(r.ops, n) }

// Watch calls f with every op recorded from now on. f must not keep the pointer.
func (r *Recorder) Watch(f func(*Op)) { r.watches = append(r.watches, f) }

// Append gives op its index and records it. A failure to write is kept for Flush: memory still has the op.
func (r *Recorder) Append(op Op) {
	op.Index = len(r.ops)
	r.ops = append(r.ops, op)
	o := &r.ops[op.Index]
	if r.w != nil {
		if r.buf = append(o.AppendJSON(r.buf), '\n'); len(r.buf) > r.hold {
			r.write()
		}
	}
	for _, f := range r.watches {
		f(o)
	}
}

func (r *Recorder) write() {
	if r.err == nil && len(r.buf) > 0 {
		_, r.err = r.w.Write(r.buf)
	}
	r.buf = r.buf[:0]
}

// Flush writes what was held back and returns the first failure to write.
func (r *Recorder) Flush() error {
	r.write()
	if r.err != nil {
		return fmt.Errorf("write the history: %w", r.err)
	}
	return nil
}

// Len is the number of ops recorded.
func (r *Recorder) Len() int { return len(r.ops) }

// History returns what was recorded. The recorder must not be used after it.
func (r *Recorder) History() (*History, error) { return New(r.ops) }
