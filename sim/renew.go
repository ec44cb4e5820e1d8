package sim

import (
	"fmt"

	"recount/election"
)

// Renew has the next life of a node, which is down, be that of another member, with an empty disk. ticket is what the cluster gave it
// when it was added.
func (c *Cluster) Renew(name string, ticket uint64) error {
	n := &c.nodes[c.index(name)]
	if n.runs() {
		return fmt.Errorf("%s runs", name)
	}
	n.ticket = ticket
	n.disk.wipe()
	return nil
}

// Ticket implements election.Admitted.
func (n *node) Ticket() uint64 { return n.ticket }

// Membership is what a node's algorithm takes somebody for. It is an error if it cannot be asked.
func (c *Cluster) Membership(name string, who election.ID) (as election.Membership, err error) {
	n := &c.nodes[c.index(name)]
	r, can := n.impl.(election.Reconfigurer)
	switch {
	case !n.runs():
		return 0, errDown
	case !can:
		return 0, election.ErrCannot
	}
	if !n.guarded(func() { n.enter(); as = r.Membership(who); n.leave() }) {
		return 0, errDown
	}
	return as, nil
}
