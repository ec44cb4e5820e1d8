package harness

import (
	"context"
	"fmt"
	"sync"
	"time"

	"recount/election"
	"recount/internal/hint"
)

// await lets the loop go on until every server of the system has come up, if the system can tell.
func (c *containers) await(ctx context.Context) error {
	system, ok := c.system.(election.Readier)
	if !ok {
		return nil
	}
	var mu sync.Mutex
	wants := map[string]error{} // of those that are not ready
	for _, m := range c.members {
		wants[m.Name] = fmt.Errorf("%s was not asked yet", m.Name)
	}
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	for _, m := range c.members {
		work.Go(func() {
			for asking.Err() == nil {
				within, done := context.WithTimeout(asking, 2*time.Second)
				err := system.Ready(within, m, c.members, c.dial(m.Name))
				done()
				mu.Lock()
				if wants[m.Name] = err; err == nil {
					delete(wants, m.Name)
					mu.Unlock()
					return
				}
				mu.Unlock()
				select {
				case <-asking.Done():
				case <-time.After(50 * time.Millisecond):
				}
			}
		})
	}
	began := c.Now()
	for c.Now() < began+system.Patience() {
		if err := c.Run(ctx, c.Now()+step); err != nil {
			return err
		}
		if c.ended != "" {
			return hint.Add(fmt.Errorf("%s before it was ready", c.ended), "its log tells why")
		}
		mu.Lock()
		left := len(wants)
		mu.Unlock()
		if left == 0 {
			return nil
		}
	}
	mu.Lock()
	defer mu.Unlock()
	name := sortedKeys(wants)[0]
	err := fmt.Errorf("%s is not ready after %v: %w", name, system.Patience(), wants[name])
	if hint.Of(err) == "" {
		err = hint.Add(err, "its log may tell why; what is ready is for the target to say")
	}
	return err
}

// OnExit calls f when a node's process has ended by itself.
func (c *containers) OnExit(f func(node string, code int)) {
	c.Cluster.OnExit(func(node string, code int) {
		if c.ended == "" {
			c.ended = fmt.Sprintf("%s ended by itself with exit status %d", node, code)
		}
		f(node, code)
	})
}
