package docker

import (
	"context"
	"fmt"
	"time"

	"recount/docker/agent"
	"recount/history"
)

// CanSkew tells whether an engine on a machine of that architecture can have clocks err: nil, or an error that says why not.
func CanSkew(architecture string) error { return agent.CheckClock(history.Clock{}, architecture) }

// canSkew tells whether a clock of this cluster can err so.
func (c *Cluster) canSkew(k history.Clock) error {
	if err := agent.CheckClock(k, c.engine.version.Arch); err != nil {
		return fmt.Errorf("clock of %s: %w", k.Node, err)
	}
	return nil
}

// skew has clocks err, looks whether they do, and returns since when.
func (c *Cluster) skew(ctx context.Context, clocks []history.Clock) (moments []time.Time, seen agent.Verified) {
	if len(clocks) == 0 {
		return nil, seen
	}
	answer, err := c.remote.ask(ctx, agent.Request{Skew: &agent.Skew{Clocks: clocks}})
	if err != nil {
		seen.Unsure = []string{fmt.Sprintf("skew clocks: %v", err)}
		for _, k := range clocks {
			seen.Missed = append(seen.Missed, k.Key())
		}
		return nil, seen
	}
	now := time.Now()
	for _, ago := range answer.Skewed.Ago {
		moments = append(moments, now.Add(-ago))
	}
	return moments, answer.Skewed.Verified
}

// ReadClocks tells done on the loop how wrong the clocks are of all nodes that run and whose clocks can be read: those
// that were made ready by Config.Clocks, or have had a fault.
func (c *Cluster) ReadClocks(done func(map[string]history.Reading)) {
	c.work.Go(func() {
		answer, err := c.remote.ask(c.ctx, agent.Request{Clocks: true})
		if err == nil { // else the run is about to end
			c.Post(func() { done(answer.Readings) })
		}
	})
}
