package docker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"recount/docker/agent"
	"recount/history"
)

// Disks that can fail. In a run that asks for them each node's data volume is served by the agent, through FUSE. The
// volume's folder on the engine's machine, of which the engine itself makes the container's mount, is where it is
// mounted: so any image can have one, and so can a remote engine.

// canFail tells whether a disk of this cluster can be brought into a state.
func (c *Cluster) canFail(d history.Disk) error {
	if !c.config.Disks {
		return fmt.Errorf("disk of %s: the nodes of this run are not on disks that can fail", d.Node)
	}
	if !c.nodes[d.Node].onDisk {
		return fmt.Errorf("disk of %s: it keeps no data that is known of", d.Node)
	}
	return nil
}

// attach has the data volume of a node's container, which is not started yet, served from a disk that can fail.
func (c *Cluster) attach(ctx context.Context, n *node, volume, target string) error {
	v, err := c.engine.api.VolumeInspect(ctx, volume)
	if err != nil {
		return fmt.Errorf("look at volume %s: %w", volume, err)
	}
	_, err = c.remote.ask(ctx, agent.Request{Attach: &agent.Attach{Node: n.name, Path: v.Mountpoint, Target: target, Seed: c.config.Seed}})
	if err != nil {
		return fmt.Errorf("put %s on a disk that can fail: %w", n.name, err)
	}
	n.onDisk = true
	return nil
}

// ails notes what nodes may end over from a change on.
func (c *Cluster) ails(change history.Changes) {
	for _, s := range change.States() {
		if history.Fails(s) {
			c.nodes[s.Key().Node].ails[s.Key()] = true
		}
	}
}

// mends notes what nodes have no more to end over once a change was made, and returns them. A disk that is healed of what a crash
// was to leave on it has never failed anybody: who ends over that ends by itself.
func (c *Cluster) mends(change history.Changes) (mended []*node) {
	for _, s := range change.States() {
		n := c.nodes[s.Key().Node]
		if n == nil || history.Fails(s) || !n.ails[s.Key()] {
			continue
		}
		delete(n.ails, s.Key())
		healed := time.Now()
		n.mended.Store(&healed)
		mended = append(mended, n)
	}
	return mended
}

// deathThroes is how long after its disk was healed a process may still end because of what the disk did before.
const deathThroes = 5 * time.Second

// revive starts a node again that has ended by itself, if it has ended over a disk, or want of memory, that is healed by now: one
// that ends before the healing is started with it. It is called on the loop.
func (c *Cluster) revive(n *node, l *life) {
	mended := n.mended.Load()
	if mended == nil || time.Since(*mended) > deathThroes {
		return
	}
	wait, leave := stand([]*queue{&n.changes})
	c.work.Go(func() {
		defer leave()
		wait()
		if n.life != l || l.meant.Load() {
			return // it was started meanwhile, or is to be down
		}
		if err := c.start(c.ctx, n); err != nil && c.ctx.Err() == nil {
			c.config.Log(fmt.Sprintf("%s ended over its disk or its memory, and does not start again: %v", n.name, err))
		}
	})
}

// endWait is how long to wait for the engine to report the end of a process that the agent saw ending.
const endWait = 2 * time.Second

// revived starts those nodes again, of the ones that a change has mended, that ended while that was done, and reports whether there
// are any.
func (c *Cluster) revived(ctx context.Context, change history.Changes, mended []*node) bool {
	some := false
	for _, n := range mended {
		if n.life == nil || !slices.Contains(change.Procs, history.Proc{Node: n.name, State: history.Up}) {
			continue
		}
		select {
		case <-n.life.over:
			some = c.start(ctx, n) == nil || some
		case <-time.After(endWait):
		}
	}
	return some
}
