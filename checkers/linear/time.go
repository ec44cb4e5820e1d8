package linear

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"
)

// start is when this process began.
var start = time.Now()

// errLate is why a context has ended in which deciding took too long.
var errLate = errors.New("the time limit for deciding was reached")

// clock is how much time is left for deciding.
type clock struct {
	left atomic.Int64
	end  context.CancelCauseFunc
}

type clockKey struct{}

type undrawnKey struct{}

// Undrawn returns a context with which nothing is drawn: for those who judge many histories, and show few of them.
func Undrawn(ctx context.Context) context.Context { return context.WithValue(ctx, undrawnKey{}, true) }

// WithTime returns a context with which all checks together take no more than this time for deciding. It is the time of
// the processor that counts, so that nothing is undecided only because the machine had other work to do.
func WithTime(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	c := &clock{end: end}
	c.left.Store(int64(limit))
	if limit <= 0 {
		end(errLate)
	}
	return context.WithValue(ctx, clockKey{}, c), func() { end(nil) }
}

// meter tells a search when its time is over. The thread that it is first asked on is the search's own from then on, because
// threads are what the processor's time is told of.
type meter struct {
	ctx    context.Context
	clock  *clock
	locked bool
	last   time.Duration
}

func newMeter(ctx context.Context) *meter {
	c, _ := ctx.Value(clockKey{}).(*clock)
	return &meter{ctx: ctx, clock: c}
}

// over reports whether the time limit is reached, and counts what has passed since it was last asked.
func (m *meter) over() bool {
	if m.clock == nil {
		return m.ctx.Err() != nil
	}
	if !m.locked {
		runtime.LockOSThread()
		m.locked, m.last = true, threadTime()
	}
	now := threadTime()
	if m.clock.left.Add(int64(m.last-now)) <= 0 {
		m.clock.end(errLate)
	}
	m.last = now
	return m.ctx.Err() != nil
}

// done counts the rest. A goroutine that ends without it takes its thread with it.
func (m *meter) done() {
	if m.over(); m.locked {
		runtime.UnlockOSThread()
	}
}

// extension is how much longer than its time limit a check may take to show a violation that it has found in time.
const extension = 10 * time.Second

// Extended returns a context for that. It ends with ctx unless it was for lack of time.
func Extended(ctx context.Context) (context.Context, context.CancelFunc) {
	more, cancel := WithTime(context.WithoutCancel(ctx), extension)
	if interrupted(ctx) {
		cancel()
	}
	stop := context.AfterFunc(ctx, func() {
		if interrupted(ctx) {
			cancel()
		}
	})
	return more, func() {
		stop()
		cancel()
	}
}

// interrupted reports whether ctx has ended for another reason than time.
func interrupted(ctx context.Context) bool {
	why := context.Cause(ctx)
	return why != nil && !errors.Is(why, errLate) && !errors.Is(why, context.DeadlineExceeded)
}
