package docker

import (
	"context"
	"fmt"

	"recount/docker/agent"
)

// Listening returns the ports of TCP on which a node waits for connections, in their order, those of Listen among them; and which of them
// are alone: at its loopback, where no other node reaches it. It waits for the agent, and may be called from any goroutine.
func (c *Cluster) Listening(ctx context.Context, node string) (ports, alone []int, err error) {
	answer, err := c.remote.ask(ctx, agent.Request{Listening: node})
	if err != nil {
		return nil, nil, fmt.Errorf("look where %s listens: %w", node, err)
	}
	return answer.Ports, answer.Alone, nil
}
