package docker

import (
	"context"
	"fmt"
	"net/netip"

	"recount/docker/agent"
	"recount/internal/hint"
)

// Unheard is nil, or tells of a node that listens to a multicast group, where the network need not carry what is sent to it:
// such nodes would look as if they did not hear each other, though nothing was done to them. Groups of IPv6 are not looked at.
// It waits for the agent, and may be called from any goroutine.
func (c *Cluster) Unheard(ctx context.Context) error {
	if c.config.Multicast {
		return nil
	}
	answer, err := c.remote.ask(ctx, agent.Request{Groups: true})
	if err != nil {
		return fmt.Errorf("look which groups nodes listen to: %w", err)
	}
	return unheard(c.names, answer.Groups)
}

func unheard(nodes []string, groups map[string][]netip.Addr) error {
	for _, name := range nodes {
		if of := groups[name]; len(of) > 0 {
			return hint.Add(fmt.Errorf("%s listens to the multicast group %v, and the network between nodes carries none", name, of[0]),
				"say so in the target, in a spec file by multicast: true; the network then carries them, and faults are of them, too")
		}
	}
	return nil
}
