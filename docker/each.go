package docker

import "sync"

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
