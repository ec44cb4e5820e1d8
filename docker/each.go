package docker

import (
	"context"
	"sync"
	"time"
)

// each calls f for all items at once and returns, when all are done, the first error in their order.
func each[T any](items []T, f func(i int, item T) error) error {
	errs := make([]error, len(items))
	var all sync.WaitGroup
	for i, item := range items {
		all.Go(func() { errs[i] = f(i, item) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// outlast returns a context that ends a while after ctx does. What an engine has begun to make it goes on making when
// nobody waits for it any more; to be sure that it can be removed, one must have waited.
func outlast(ctx context.Context, while time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(while):
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() { stop(); cancel() }
}
