package docker

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"

	"recount/docker/agent"
)

// Container is what a node runs.
type Container struct {
	Image    string
	Command  []string          // none leaves the image's own
	Env      []string          // "KEY=value"
	Data     string            // the folder whose contents outlive the container's process; "" for none
	Own      string            // a second such folder, of what Recount itself keeps there: no fault reaches it; "" for none
	Files    map[string]string // by their whole path: they are there before the process first starts
	Sidecars []Container
}

// Launch starts all nodes, at once. Sidecars share their node's network and its fate: they are paused, killed and started
// together, and when one of them ends, all do.
func (c *Cluster) Launch(ctx context.Context, nodes map[string]Container) error {
	began := time.Now()
	for name := range nodes {
		if c.nodes[name] == nil {
			return fmt.Errorf("docker: launch: no node %q", name)
		}
	}
	during, cancel := outlast(ctx, grace)
	defer cancel()
	err := each(c.names, func(_ int, name string) error {
		n := c.nodes[name]
		what, ok := nodes[name]
		if !ok {
			return fmt.Errorf("nothing to run on %s", name)
		}
		all := append([]Container{what}, what.Sidecars...)
		n.containers = make([]string, len(all))
		err := each(all, func(i int, what Container) (err error) {
			n.containers[i], err = c.createNode(during, n, i, what)
			return err
		})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		return c.start(during, n)
	})
	if err != nil {
		return fmt.Errorf("docker: launch: %w", err)
	}
	c.config.Log(fmt.Sprintf("%d nodes are up (%v)", len(c.names), time.Since(began).Round(time.Millisecond)))
	return nil
}

// createNode makes the container of a node, or with i above 0 that of a sidecar.
func (c *Cluster) createNode(ctx context.Context, n *node, i int, what Container) (id string, err error) {
	name, role := n.name, roleNode
	if i > 0 {
		name, role = fmt.Sprintf("%s-sidecar-%d", n.name, i), roleSidecar
	}
	config := containerConfig{
		container: container.Config{Image: what.Image, Cmd: what.Command, Env: what.Env},
		host: container.HostConfig{
			NetworkMode:   container.NetworkMode("container:" + n.anchor),
			RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
			LogConfig:     container.LogConfig{Type: "json-file"}, // which can be read back, whatever the engine prefers
		},
	}
	disk := i == 0 && what.Data != "" && c.config.Disks
	for suffix, target := range map[string]string{"": what.Data, "-own": what.Own} {
		if target == "" {
			continue
		}
		v := volume.CreateOptions{Name: c.name(name + suffix), Labels: maps.Clone(c.labels)}
		if disk && suffix == "" {
			v.Labels[labelDisk] = n.name
		}
		if _, err := c.engine.api.VolumeCreate(ctx, v); err != nil {
			return "", fmt.Errorf("create volume %s: %w", v.Name, err)
		}
		config.host.Mounts = append(config.host.Mounts, mount.Mount{Type: mount.TypeVolume, Source: v.Name, Target: target})
	}
	id, err = c.create(ctx, c.name(name), role, n.name, config)
	if err == nil {
		err = c.engine.writeFiles(ctx, id, what.Files)
	}
	if err == nil && disk { // the engine has put into the volume what the image has there
		err = c.attach(ctx, n, c.name(name), what.Data)
	}
	return id, err
}

// life is one life of a node, from the start of its containers to the end of them all.
type life struct {
	meant  atomic.Bool   // its end is nobody's news: the nemesis asked for it
	frozen bool          // by the engine; of whoever's turn it is in the queue of the node's changes
	over   chan struct{} // closed when the engine, too, knows that all containers have ended
	logged chan struct{} // closed when its log was read to the end
	hangUp func()        // ends its log early
}

// alive reports whether the node was started and nothing is known to have ended it.
func (n *node) alive() bool {
	if n.life == nil || n.life.meant.Load() {
		return false
	}
	select {
	case <-n.life.over:
		return false
	default:
		return true
	}
}

// start starts a node whose last life is over, and shows its processes to the agent.
func (c *Cluster) start(ctx context.Context, n *node) error {
	l := &life{over: make(chan struct{}), logged: make(chan struct{}), hangUp: func() {}}
	if err := c.follow(ctx, n, l); err != nil {
		return fmt.Errorf("start %s: %w", n.name, err)
	}
	pids := make([]int, len(n.containers))
	err := each(n.containers, func(i int, id string) error {
		if err := c.engine.api.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
			return err
		}
		is, err := c.engine.api.ContainerInspect(ctx, id)
		if err != nil {
			return err
		}
		pids[i] = is.State.Pid // 0 if it has ended already, which watch will notice
		return nil
	})
	n.life = l
	if _, followErr := c.remote.ask(ctx, agent.Request{Follow: &agent.Follow{Node: n.name, Pids: pids, Clocks: c.config.Clocks}}); err == nil {
		err = followErr
	}
	c.work.Go(func() { c.watch(n, l) })
	if err != nil {
		l.hangUp() // what has not begun to write will not end
		return fmt.Errorf("start %s: %w", n.name, err)
	}
	return nil
}

// watch waits for the end of a life. Whichever container ends first takes the others with it.
func (c *Cluster) watch(n *node, l *life) {
	type ended struct {
		code int
		err  error
	}
	ends := make(chan ended, len(n.containers))
	for _, id := range n.containers {
		go func() {
			code, err := c.engine.exit(c.ctx, id)
			ends <- ended{code, err}
		}()
	}
	var first ended
	for i := range n.containers {
		e := <-ends
		if c.ctx.Err() != nil {
			return
		}
		if e.err != nil {
			c.lose(engineLost(e.err))
			return
		}
		if i > 0 {
			continue
		}
		first = e
		kill := agent.Apply{Signals: []agent.Signal{{Node: n.name, Kind: agent.Kill}}}
		if _, err := c.remote.ask(c.ctx, agent.Request{Apply: &kill}); err != nil {
			return // the agent is lost, and the run with it
		}
	}
	close(l.over)
	if l.meant.Load() {
		return
	}
	select {
	case <-l.logged:
	case <-c.ctx.Done():
	}
	c.Post(func() {
		c.onExit(n.name, first.code)
		c.revive(n, l)
	})
}

// exit waits until a container does not run and returns its exit code.
func (e *Engine) exit(ctx context.Context, id string) (int, error) {
	wait, failed := e.api.ContainerWait(ctx, id, container.WaitConditionNotRunning)
	select {
	case r := <-wait:
		return int(r.StatusCode), nil
	case err := <-failed:
		return 0, err
	}
}
