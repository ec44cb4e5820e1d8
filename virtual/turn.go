package virtual

import (
	"fmt"

	"recount/internal/seed"
)

// Turn has chance go on from now as that of another seed: what the network does, what a crash leaves of files, in which order goroutines
// go on and what else processes draw, those of lives to come too. A process that has a source of randomness of its own, which it has seeded
// before, draws from that what it would have.
func (c *Cluster) Turn(to uint64) {
	c.config.Seed = to
	seed.Turn(c.network, to, "network")
	seed.Turn(c.start, to, "clients")
	for _, n := range c.nodes {
		if n.disks != nil {
			seed.Turn(n.disks, to, "disk of "+n.name)
		}
	}
	for _, p := range c.procs {
		p.turn = p.seed()
	}
}

// seed is that of the process's chance.
func (p *proc) seed() uint64 {
	return seed.New(p.node.c.config.Seed, fmt.Sprintf("node %s life %d program %d", p.node.name, p.born, p.program)).Uint64()
}
