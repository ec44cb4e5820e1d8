package docker

import (
	"context"
	"fmt"

	"recount/docker/agent"
)

// Listening returns the ports of TCP on which a node waits for connections, in their order, those of Listen among them. It waits for the
// agent, and may be called from any goroutine.
func (c *Cluster) Listening(ctx context.Context, node string) ([]int, error) {
	answer, err := c.remote.ask(ctx, agent.Request{Listening: node})
	if err != nil {
		return nil, fmt.Errorf("look where %s listens: %w", node, err)
	}
	return answer.Ports, nil
}
