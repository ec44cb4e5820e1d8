package docker

import (
	"container/heap"
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// loop is the run's one thread of control, in real time: whoever calls Run executes, one after the other, what timers
// and other goroutines have for it.
type loop struct {
	began  atomic.Pointer[time.Time] // when Run was first called
	timers timers                    // of the loop alone
	order  uint64

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
	l.order++
	heap.Push(&l.timers, timer{l.Now() + d, l.order, f})
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
		for len(l.timers) > 0 && l.timers[0].at <= min(now, until) {
			heap.Pop(&l.timers).(timer).f()
		}
		next := until
		if len(l.timers) > 0 {
			next = min(next, l.timers[0].at)
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

// timers are ordered by time, and those of one time by who came first.
type timers []timer

type timer struct {
	at    time.Duration
	order uint64
	f     func()
}

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	return t[i].at < t[j].at || t[i].at == t[j].at && t[i].order < t[j].order
}
func (t timers) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *timers) Push(x any)   { *t = append(*t, x.(timer)) }
func (t *timers) Pop() any {
	old := *t
	last := old[len(old)-1]
	old[len(old)-1] = timer{}
	*t = old[:len(old)-1]
	return last
}
