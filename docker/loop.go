package docker

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"recount/internal/later"
)

// loop is the run's one thread of control, in real time: whoever calls Run executes, one after the other, what timers
// and other goroutines have for it.
type loop struct {
	began  atomic.Pointer[time.Time] // when Run was first called
	timers later.Queue[func()]       // of the loop alone

	mu     sync.Mutex
	posted []func()
	wake   chan struct{} // has an element when posted may have

	losing  sync.Once
	lost    chan struct{} // closed when the run cannot go on
	lostErr error         // why, from then on
}

func newLoop() *loop { return &loop{wake: make(chan struct{}, 1), lost: make(chan struct{})} }

// Now is the time since Run was first called, and 0 before. Any goroutine may call it.
func (l *loop) Now() time.Duration {
	if began := l.began.Load(); began != nil {
		return time.Since(*began)
	}
	return 0
}

// After calls f on the loop once d has passed. Like all but Now and Post it belongs to the loop itself, or to who sets up
// the run before it.
func (l *loop) After(d time.Duration, f func()) {
	l.timers.Add(l.Now()+d, f)
}

// Post calls f on the loop as soon as it can. Any goroutine may call it; posts of one goroutine keep their order.
func (l *loop) Post(f func()) {
	l.mu.Lock()
	l.posted = append(l.posted, f)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Guarded calls f, which goes on beside the loop. A panic out there would end the process with all containers left behind: it is made
// one of the loop's.
func (l *loop) Guarded(f func()) {
	defer func() {
		if r := recover(); r != nil {
			stack := debug.Stack()
			l.Post(func() { panic(fmt.Sprintf("%v\n\n%s", r, stack)) })
		}
	}()
	f()
}

// lose makes Run return err, now or at its next call. Only the first one counts.
func (l *loop) lose(err error) {
	l.losing.Do(func() {
		l.lostErr = err
		close(l.lost)
	})
}

// Run runs the loop until that time. It returns early, with an error, when ctx ends or the cluster is lost. It may be
// called again with a later time.
func (l *loop) Run(ctx context.Context, until time.Duration) error {
	now := time.Now()
	l.began.CompareAndSwap(nil, &now)
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.lost:
			return l.lostErr
		default:
		}
		l.runPosted()
		now := l.Now()
		for f, some := l.timers.Take(min(now, until)); some; f, some = l.timers.Take(min(now, until)) {
			f()
		}
		next := until
		if at, some := l.timers.Next(); some {
			next = min(next, at)
		}
		if now = l.Now(); now >= until {
			return nil
		}
		alarm.Reset(next - now)
		select {
		case <-alarm.C:
		case <-l.wake:
		case <-ctx.Done():
		case <-l.lost:
		}
	}
}

func (l *loop) runPosted() {
	l.mu.Lock()
	posted := l.posted
	l.posted = nil
	l.mu.Unlock()
	for _, f := range posted {
		f()
	}
}
