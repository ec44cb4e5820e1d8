package docker

import "recount/docker/agent"

// Traffic tells done on the loop what the nodes have sent each other since the cluster was opened, by the kernel's own counts.
func (c *Cluster) Traffic(done func([]agent.Traffic)) {
	c.work.Go(func() {
		answer, err := c.remote.ask(c.ctx, agent.Request{Traffic: true})
		if err == nil { // else the run is about to end
			c.Post(func() { done(answer.Traffic) })
		}
	})
}
