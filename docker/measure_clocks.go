package docker

import (
	"context"
	"fmt"
	"math"
	"time"

	"recount/docker/agent"
	"recount/history"
)

// Measurement is one fault as it was asked for and as it was seen to be.
type Measurement struct {
	What, Asked, Got string
}

// driftFor is how long a drift is watched.
const driftFor = 2 * time.Second

// MeasureClocks has the clocks of a running node err in several ways and measures what its process is told. It leaves the
// clocks right. It belongs to the loop, and runs it.
func (c *Cluster) MeasureClocks(ctx context.Context, node string) (all []Measurement, err error) {
	for _, by := range []time.Duration{30 * time.Second, -30 * time.Second, time.Millisecond} {
		if _, err := c.try(ctx, history.Changes{Clocks: []history.Clock{{Node: node, Offset: by}}}); err != nil {
			return all, err
		}
		told, err := c.ask(ctx, node)
		if err != nil {
			return all, err
		}
		all = append(all, Measurement{"clock jump", by.String(), fmt.Sprintf("%v ± %v", told.Wall, told.Accuracy)})
	}
	for _, by := range []float64{0.01, -0.01, 0.0002} {
		if _, err := c.try(ctx, history.Changes{Clocks: []history.Clock{{Node: node, Drift: by}}}); err != nil {
			return all, err
		}
		from, err := c.ask(ctx, node)
		if err == nil {
			err = c.Run(ctx, c.Now()+driftFor)
		}
		if err != nil {
			return all, err
		}
		to, err := c.ask(ctx, node)
		if err != nil {
			return all, err
		}
		passed := float64(to.At - from.At)
		wall, monotonic := float64(to.Wall-from.Wall)/passed, float64(to.Monotonic-from.Monotonic)/passed
		out := float64(from.Accuracy+to.Accuracy) / passed
		all = append(all, Measurement{"clock drift", percent(by),
			fmt.Sprintf("wall %s, monotonic %s, ± %s", percent(wall), percent(monotonic), percent(out))})
	}
	_, err = c.try(ctx, history.Changes{Clocks: []history.Clock{{Node: node}}})
	return all, err
}

func percent(share float64) string { return fmt.Sprintf("%.4g%%", math.Round(share*1e6)/1e4) }

func (c *Cluster) ask(ctx context.Context, node string) (*agent.Told, error) {
	answer, err := c.remote.ask(ctx, agent.Request{Ask: node})
	if err != nil {
		return nil, fmt.Errorf("docker: ask %s for the time: %w", node, err)
	}
	return answer.Told, nil
}
