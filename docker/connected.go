package docker

import (
	"context"
	"fmt"
	"strings"

	"recount/docker/agent"
	"recount/history"
	"recount/internal/hint"
)

// connected looks whether packets pass between the nodes' networks, from each to the next: an engine whose machine drops
// what its bridges forward would make every election look as if it elected nobody.
func (c *Cluster) connected(ctx context.Context) error {
	var ring []history.Link
	for i, name := range c.names {
		if next := c.names[(i+1)%len(c.names)]; next != name {
			ring = append(ring, history.Link{From: name, To: next})
		}
	}
	answer, err := c.remote.ask(ctx, agent.Request{Verify: &agent.Verify{Changes: history.Changes{Links: ring}, Within: seenWithin}})
	if err != nil {
		return fmt.Errorf("look whether nodes reach each other: %w", err)
	}
	if bad := answer.Verified.Wrong; len(bad) > 0 {
		return hint.Add(fmt.Errorf("nodes do not reach each other, though nothing was done to them: %s", strings.Join(bad, "; ")),
			"does a firewall on the engine's machine drop what bridges forward? see the chain FORWARD there")
	}
	return nil
}
