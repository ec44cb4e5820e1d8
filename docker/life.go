package docker

import (
	"context"
	"fmt"
	"regexp"
	"sync/atomic"

	"github.com/docker/docker/api/types/container"

	"recount/docker/agent"
	"recount/internal/hint"
)

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
	if n.life == nil || n.life.meant.Load() || n.trapped.Load() {
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
			return unrunnable(err)
		}
		is, err := c.engine.api.ContainerInspect(ctx, id)
		if err != nil {
			return err
		}
		pids[i] = is.State.Pid // 0 if it has ended already, which watch will notice
		return nil
	})
	l.meant.Store(err != nil) // what did not start does not end by itself
	n.life = l
	if _, followErr := c.remote.ask(ctx, agent.Request{Follow: &agent.Follow{Node: n.name, Pids: pids, Clocks: c.config.Clocks, Log: n.logFile}}); err == nil {
		err = followErr
	}
	containers := n.containers
	c.work.Go(func() { c.watch(n, l, containers) })
	if err != nil {
		l.hangUp() // what has not begun to write will not end
		return fmt.Errorf("start %s: %w", n.name, err)
	}
	c.Post(func() { c.onStart(n.name) })
	return nil
}

// unrunnable is, where an engine's runtime says that a container cannot run its program, that and no more, or else the error.
func unrunnable(err error) error {
	m := cannotRun.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	return hint.Add(fmt.Errorf("its container cannot run %s: %s", m[1], m[2]),
		"a command begins with a program that the image has, by its whole path, or with a script of files that begins with #!")
}

var cannotRun = regexp.MustCompile(`unable to start container process: (?:error during container init: )?exec: ("[^"]+"): (.+?)(?:: unknown)?$`)

// watch waits for the end of a life, in these containers. Whichever container ends first takes the others with it.
func (c *Cluster) watch(n *node, l *life, containers []string) {
	type ended struct {
		code int
		err  error
	}
	ends := make(chan ended, len(containers))
	for _, id := range containers {
		go func() {
			code, err := c.engine.exit(c.ctx, id)
			ends <- ended{code, err}
		}()
	}
	var first ended
	for i := range containers {
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
		if c.signal(c.ctx, n, agent.Kill) != nil {
			return // the agent is lost, and the run with it
		}
	}
	if n.trapped.Load() {
		l.meant.Store(true)
		n.trapped.Store(false)
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

// exit waits until a container does not run and returns its exit code: of one that did not start, what the engine has put there.
func (e *Engine) exit(ctx context.Context, id string) (int, error) {
	wait, failed := e.api.ContainerWait(ctx, id, container.WaitConditionNotRunning)
	select {
	case r := <-wait: // whose error is why the container did not start
		return int(r.StatusCode), nil
	case err := <-failed:
		return 0, err
	}
}
