package docker

import (
	"context"

	"recount/docker/agent"
)

// TellApart is nil if each part of a node that is known has a process, and shares none with another. It waits for the agent, and
// may be called from any goroutine.
func (c *Cluster) TellApart(ctx context.Context, node string) error {
	_, err := c.remote.ask(ctx, agent.Request{TellApart: node})
	return err
}
