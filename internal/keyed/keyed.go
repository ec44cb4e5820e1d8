// Package keyed has locks by keys, for which nobody has to wait longer than he wants to.
package keyed

import (
	"context"
	"sync"
)

// Locks are locks, one for each key. The zero value is ready. It is safe for concurrent use.
type Locks[K comparable] struct {
	mu   sync.Mutex
	held map[K]*lock
}

type lock struct {
	free chan struct{} // has something in it while nobody holds the lock
	of   int           // who hold it or wait for it
}

// Lock waits until nobody else holds the lock of key, or until ctx ends, whose error it then returns. unlock gives the lock back; it is
// called once.
func (l *Locks[K]) Lock(ctx context.Context, key K) (unlock func(), err error) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[K]*lock{}
	}
	k := l.held[key]
	if k == nil {
		k = &lock{free: make(chan struct{}, 1)}
		k.free <- struct{}{}
		l.held[key] = k
	}
	k.of++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if k.of--; k.of == 0 {
			delete(l.held, key)
		}
	}
	select {
	case <-k.free:
		return func() { k.free <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
