//go:build linux

package agent

import (
	"context"
	"time"
)

const (
	stallTick = 10 * time.Millisecond
	stallMin  = 100 * time.Millisecond // a tick so much late is worth telling
)

// watchStalls tells how long the machine stood still, whenever it did: a timer of ten milliseconds that fires a tenth of
// a second late did so to the nodes as well, and what they did then is not their fault.
func watchStalls(ctx context.Context, tell func(time.Duration)) {
	tick := time.NewTicker(stallTick)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		if late := now.Sub(last) - stallTick; late > stallMin {
			tell(late)
		}
		last = now
	}
}
