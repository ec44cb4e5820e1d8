package sim

import (
	"fmt"

	"recount/internal/seed"
)

// Turn has chance go on from now as that of another seed: what the network does, what disks do, and what nodes draw, of their present
// lives and of those to come.
func (c *Cluster) Turn(to uint64) {
	c.seed = to
	seed.Turn(c.network, to, "network")
	seed.Turn(c.clients, to, "clients")
	seed.Turn(c.disks, to, "disks")
	for i := range c.nodes {
		if n := &c.nodes[i]; n.rand != nil {
			seed.Turn(n.rand, to, fmt.Sprintf("node %s life %d", n.name, n.life))
		}
	}
}
