package history

import (
	"fmt"
	"io"
	"slices"
)

// Recorder appends ops to a history as they happen: to a writer as JSON lines, to memory, and to whoever listens.
// It belongs to the run's loop: it is not safe for concurrent use.
type Recorder struct {
	n       int
	ops     []Op
	forget  bool
	passing []*Op // with forget, the op that is told of, and those on whose account it was recorded
	depth   int   // how many of them there are
	w       io.Writer
	buf     []byte
	hold    int // bytes to gather before a write
	err     error
	watches []func(*Op)
}

// NewRecorder records to w, writing whenever hold bytes have gathered: 0 writes each op as it comes, so that a killed
// run loses none. A nil w records to memory alone.
func NewRecorder(w io.Writer, hold int) *Recorder { return &Recorder{w: w, hold: hold} }

// Forget has nothing kept in memory: whoever listens is all that knows of the ops, if nobody writes them.
func (r *Recorder) Forget() { r.forget = true }

// Reserve makes room in memory for n ops, so that a long history need not be moved again and again as it grows.
func (r *Recorder) Reserve(n int) { r.ops = slices.Grow(r.ops, n) }

// Watch calls f with every op recorded from now on. f must not keep the pointer. An op that f itself records comes to those
// who watch after f before the one that f was called with.
func (r *Recorder) Watch(f func(*Op)) { r.watches = append(r.watches, f) }

// Append gives op its index and records it. A failure to write is kept for Flush: memory still has the op.
func (r *Recorder) Append(op Op) {
	op.Index = r.n
	r.n++
	o := r.keep(&op)
	if r.w != nil {
		if r.buf = append(o.AppendJSON(r.buf), '\n'); len(r.buf) > r.hold {
			r.write()
		}
	}
	for _, f := range r.watches {
		f(o)
	}
	if r.forget {
		r.depth--
	}
}

// keep puts a copy of op where it stays, or with forget at least until all have been told.
func (r *Recorder) keep(op *Op) *Op {
	if !r.forget {
		r.ops = append(r.ops, *op)
		return &r.ops[len(r.ops)-1]
	}
	if r.depth == len(r.passing) {
		r.passing = append(r.passing, new(Op))
	}
	o := r.passing[r.depth]
	r.depth++
	*o = *op
	return o
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
func (r *Recorder) Len() int { return r.n }

// History returns what was recorded and not forgotten. The recorder must not be used after it.
func (r *Recorder) History() (*History, error) { return New(r.ops) }
