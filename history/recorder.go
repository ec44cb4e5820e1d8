package history

import (
	"fmt"
	"io"
	"slices"
	"strings"
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

// Append gives op its index and records it. A failure to write is kept for Failed and Flush: memory still has the op.
func (r *Recorder) Append(op Op) {
	if !r.forget {
		op.Index = r.n
		r.ops = append(r.ops, op)
		r.tell(&r.ops[len(r.ops)-1])
		return
	}
	if r.depth == len(r.passing) {
		r.passing = append(r.passing, new(Op))
	}
	o := r.passing[r.depth]
	r.depth++
	*o = op
	o.Index = r.n
	r.tell(o)
	r.depth--
}

// Record is Append for who records ops much alike again and again: with Forget, op itself is what those who watch are told of. It
// may be changed after it.
func (r *Recorder) Record(op *Op) {
	if !r.forget {
		r.Append(*op)
		return
	}
	op.Index = r.n
	r.tell(op)
}

// longestError is how much of an error is recorded. It may quote what a node has said, which is as long as that likes, and a line of a
// history is not.
const longestError = 16 << 10

// tell writes op, which has the next index, and tells of it.
func (r *Recorder) tell(op *Op) {
	r.n++
	if len(op.Error) > longestError {
		op.Error = strings.ToValidUTF8(op.Error[:longestError], "") + "…"
	}
	if r.w != nil {
		if r.buf = append(op.AppendJSON(r.buf), '\n'); len(r.buf) > r.hold {
			r.write()
		}
	}
	for _, f := range r.watches {
		f(op)
	}
}

func (r *Recorder) write() {
	if r.err == nil && len(r.buf) > 0 {
		if _, err := r.w.Write(r.buf); err != nil {
			r.err = fmt.Errorf("write the history: %w", err)
		}
	}
	r.buf = r.buf[:0]
}

// Flush writes what was held back and returns the first failure to write.
func (r *Recorder) Flush() error {
	r.write()
	return r.err
}

// Failed returns the first failure to write so far, nil if there was none.
func (r *Recorder) Failed() error { return r.err }

// Len is the number of ops recorded.
func (r *Recorder) Len() int { return r.n }

// History returns what was recorded and not forgotten. The recorder must not be used after it.
func (r *Recorder) History() (*History, error) { return New(r.ops) }
