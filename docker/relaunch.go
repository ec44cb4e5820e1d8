package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Relaunch gives a node, which does not run, other containers in the place of its own, with the same data: its next life is theirs.
// done is called on the loop.
func (c *Cluster) Relaunch(node string, what Container, done func(error)) {
	n := c.nodes[node]
	wait, leave := stand([]*queue{&n.changes})
	c.work.Go(func() {
		defer leave()
		wait()
		ctx, cancel := context.WithTimeout(c.ctx, applyWithin)
		defer cancel()
		err := c.relaunch(ctx, n, what)
		c.Post(func() { done(err) })
	})
}

func (c *Cluster) relaunch(ctx context.Context, n *node, what Container) error {
	if n.alive() {
		return fmt.Errorf("give %s other containers: it runs", n.name)
	}
	select {
	case <-n.life.over:
	case <-ctx.Done():
		return fmt.Errorf("give %s other containers: its last life does not end: %w", n.name, ctx.Err())
	}
	all := append([]Container{what}, what.Sidecars...)
	made := make([]string, len(all))
	err := each(all, func(i int, what Container) (err error) {
		made[i], err = c.createNode(ctx, n, len(n.earlier)+2, i, what)
		return err
	})
	if err != nil {
		return errors.Join(fmt.Errorf("give %s other containers: %w", n.name, err), c.unmake(ctx, made))
	}
	c.containers.Lock()
	defer c.containers.Unlock()
	n.earlier = append(n.earlier, n.containers) // their logs are read at the end
	n.wroteTo = append(n.wroteTo, n.logFile)
	n.containers, n.logFile = made, what.Log
	return nil
}

// unmake removes containers that were made, of "" none: the next that are to have their names would not get them.
func (c *Cluster) unmake(ctx context.Context, ids []string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return each(ids, func(_ int, id string) error {
		if id == "" {
			return nil
		}
		return c.engine.remove(ctx, id, roleNode)
	})
}

// container is the node's own, of its present life or the next; "" before there is one.
func (c *Cluster) container(n *node) string {
	c.containers.Lock()
	defer c.containers.Unlock()
	if n == nil || len(n.containers) == 0 {
		return ""
	}
	return n.containers[0]
}

// places are all containers that a node's program has had, in their order, and those of each of its sidecars.
func (c *Cluster) places(n *node) (all [][]string) {
	c.containers.Lock()
	defer c.containers.Unlock()
	for _, life := range append(slices.Clone(n.earlier), n.containers) {
		for i, id := range life {
			if i == len(all) {
				all = append(all, nil)
			}
			all[i] = append(all[i], id)
		}
	}
	return all
}
