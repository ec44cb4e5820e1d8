package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"recount/docker/agent"
	"recount/history"
	"recount/internal/hint"
)

const (
	// applyWithin bounds one Apply: the engine needs a fraction of a second to start a container, but a machine may be busy.
	applyWithin = time.Minute
	// seenWithin bounds how long a change may take to show: a process takes a moment to die.
	seenWithin = 10 * time.Second
	// stopWithin is how long a node may take to end that was asked to, as engines have it, before it is killed.
	stopWithin = 10 * time.Second
	// troubledWithin is seenWithin where something is known to have gone wrong.
	troubledWithin = 100 * time.Millisecond
)

// Can tells whether such changes can be imposed on this cluster.
func (c *Cluster) Can(change history.Changes) error {
	for _, s := range change.States() {
		if err := c.can(s); err != nil {
			return err
		}
	}
	return nil
}

// can tells whether one thing of this cluster can be brought into a state: nil, or an error that says why not.
func (c *Cluster) can(s history.State) error {
	if _, is := s.(history.Client); is {
		return errors.New("the clients are not in containers")
	}
	for _, name := range s.Key().Nodes() {
		if c.nodes[name] == nil {
			return hint.Unknown("node", name, c.names)
		}
	}
	switch s := s.(type) {
	case history.Link:
		return c.canTreat(s)
	case history.Proc:
		return s.Check()
	case history.Clock:
		return c.canSkew(s)
	case history.Disk:
		return c.canFail(s)
	case history.Part:
		return c.canHold(s)
	case history.CPU:
		return c.canThrottle(s)
	case history.Memory:
		return c.canSqueeze(s)
	case history.Trap:
		return c.canTrap(s)
	}
	return fmt.Errorf("%s of containers cannot be changed", s.Key().Dimension)
}

// canTreat tells whether packets of a link can suffer that.
func (c *Cluster) canTreat(l history.Link) error {
	switch err := c.means.Supports(l.LinkState); {
	case l.From == l.To:
		return fmt.Errorf("%s has no link to itself", l.From)
	case l.Port < 0 || l.Port > 65535:
		return fmt.Errorf("link %s→%s: no port %d", l.From, l.To, l.Port)
	case err != nil:
		return fmt.Errorf("link %s→%s: %w", l.From, l.To, err)
	}
	return nil
}

// canHold tells whether a part of a node can be brought into a state.
func (c *Cluster) canHold(p history.Part) error {
	switch {
	case len(c.config.Processes) == 0:
		return hint.Add(fmt.Errorf("%s: nothing is known of the processes of %s", p.Name(), p.Node), "processes: {agent: {match: PATTERN}} in a spec file names them")
	case c.config.Processes[p.Process] == "":
		return hint.Unknown("process of "+p.Node, p.Process, slices.Sorted(maps.Keys(c.config.Processes)))
	case p.State != history.Up && p.State != history.Paused && p.State != history.Down:
		return fmt.Errorf("%s cannot be %s: processes of a node can be paused or killed, and no more", p.Name(), p.State)
	}
	return nil
}

// canThrottle tells whether a node of this cluster can be held to a share of a processor.
func (c *Cluster) canThrottle(p history.CPU) error {
	switch {
	case p.Share == 0:
		return nil
	case p.Quota() < leastQuota:
		return fmt.Errorf("%s: Linux gives it %v of each %v or more, which is %.3g%%", p.Name(), leastQuota, history.CPUPeriod, 100*float64(leastQuota)/float64(history.CPUPeriod))
	}
	return c.means.Throttles()
}

// leastQuota is the smallest that Linux takes.
const leastQuota = time.Millisecond

// canSqueeze tells whether a node's memory can be limited.
func (c *Cluster) canSqueeze(m history.Memory) error {
	if !m.Fails() {
		return nil
	}
	return c.means.Squeezes()
}

// Apply brings things into these states, then looks whether they are in them, and tells done on the loop. Changes of one
// node's processes, parts, disk, processor and memory take place in the order of the calls, and so do changes of its
// clocks, and those of all links and traps; others do not wait for each other.
func (c *Cluster) Apply(change history.Changes, done func(history.Effect)) {
	if err := c.Can(change); err != nil {
		c.Post(func() { done(history.Effect{Seen: history.Fail, Err: err}) })
		return
	}
	c.laid(change.Traps())
	var queues []*queue
	for _, s := range change.States() {
		switch s.(type) {
		case history.Link, history.Trap:
			queues = append(queues, &c.cuts)
		case history.Clock:
			queues = append(queues, &c.nodes[s.Key().Node].clocks)
		default:
			queues = append(queues, &c.nodes[s.Key().Node].changes)
		}
	}
	wait, leave := stand(queues)
	c.work.Go(func() {
		defer leave()
		wait()
		ctx, cancel := context.WithTimeout(c.ctx, applyWithin)
		defer cancel()
		e := c.apply(ctx, change)
		c.Post(func() { done(e) })
	})
}

func (c *Cluster) apply(ctx context.Context, change history.Changes) history.Effect {
	c.ails(change)
	moments, troubles, err := c.carryOut(ctx, change)
	if err != nil {
		return history.Effect{Seen: history.Info, Err: fmt.Errorf("change the containers: %w", err)}
	}
	mended := c.mends(change)
	since, clocks := c.skew(ctx, change.Clocks)
	within := seenWithin
	if len(troubles) > 0 {
		within = troubledWithin
	}
	seen, err := c.verify(ctx, change, mended, within)
	if err != nil {
		return history.Effect{Seen: history.Info, Err: fmt.Errorf("verify what the containers are in: %w", err)}
	}
	seen.Add(&clocks)
	e := history.Effect{Seen: history.OK, Spread: spread(append(moments, since...))}
	if len(troubles)+len(seen.Unsure) > 0 {
		e.Seen = history.Info
	}
	if len(seen.Wrong) > 0 {
		e.Seen = history.Fail
		for _, p := range change.Procs {
			if slices.Contains(seen.Missed, p.Key()) {
				c.nodes[p.Node].stopped.Store(false) // it was seen to run on
			}
		}
	}
	if e.Seen != history.OK {
		troubles = slices.Concat(troubles, seen.Wrong, seen.Unsure)
		e.Err = errors.New("change the containers: " + strings.Join(troubles, "; "))
	}
	return history.Partly(change, seen.Missed, e)
}

// carryOut makes a change, but for that of clocks. It returns when each part of it took effect, and what did not work; an
// error if it is not known what became of it.
func (c *Cluster) carryOut(ctx context.Context, change history.Changes) (moments []time.Time, troubles []string, err error) {
	order, calls, troubles := c.order(change)
	answer, err := c.remote.ask(ctx, agent.Request{Apply: &order})
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	for _, ago := range answer.Applied.Ago {
		moments = append(moments, now.Add(-ago))
	}
	troubles = append(troubles, answer.Applied.Errors...)
	done := make([]time.Time, len(calls))
	err = each(calls, func(i int, k call) error {
		err := k.do(ctx, k.node)
		done[i] = time.Now()
		return err
	})
	if err != nil {
		troubles = append(troubles, err.Error())
	}
	for _, p := range change.Procs {
		if p.State != history.Paused {
			c.nodes[p.Node].stopped.Store(false)
		}
	}
	return append(moments, done...), troubles, nil
}

// verify looks whether links, processes and disks are as a change wants them. Where they are not, and nodes are started
// again that ended over a disk or want of memory of which it has mended them, it looks once more.
func (c *Cluster) verify(ctx context.Context, change history.Changes, mended []*node, within time.Duration) (*agent.Verified, error) {
	verify := agent.Request{Verify: &agent.Verify{Changes: change, Within: within}}
	answer, err := c.remote.ask(ctx, verify)
	if err == nil && len(answer.Verified.Wrong) > 0 && c.revived(ctx, change, mended) {
		answer, err = c.remote.ask(ctx, verify)
	}
	return answer.Verified, err
}

// call is a part of a change that the agent cannot make at once: it asks the engine, or waits for a process.
type call struct {
	node *node
	do   func(ctx context.Context, n *node) error
}

// order splits a change into what the agent does at once, what is left to do after that, and what cannot be done.
func (c *Cluster) order(change history.Changes) (order agent.Apply, calls []call, troubles []string) {
	order.Changes = change
	order.Procs, order.Clocks = nil, nil
	for _, p := range change.Procs {
		n := c.nodes[p.Node]
		signal := func(kind agent.Kind) {
			order.Signals = append(order.Signals, agent.Signal{Node: n.name, Kind: kind})
		}
		then := func(do func(context.Context, *node) error) { calls = append(calls, call{n, do}) }
		if n.life == nil {
			troubles = append(troubles, n.name+" was never launched")
			continue
		}
		alive, frozen := n.alive(), n.life.frozen
		switch p.State {
		case history.Down, history.Crashed: // links have gone before, as a crash wants it
			n.life.meant.Store(true)
			signal(agent.Kill)
			if p.State == history.Crashed {
				order.Crash = append(order.Crash, n.name)
			}
		case history.Stopped:
			if alive {
				n.life.meant.Store(true)
				signal(agent.Term)
				then(c.ended)
			}
		case history.Up:
			if !alive {
				then(c.restart)
				continue
			}
			signal(agent.Cont)
		case history.Paused, history.Frozen:
			switch {
			case !alive && !n.life.meant.Load() && !n.trapped.Load():
				troubles = append(troubles, fmt.Sprintf("%s has ended by itself, and cannot be %s", n.name, p.State))
				continue
			case !alive: // what it was down for is over, and what it is to stand still for is not
				then(func(ctx context.Context, n *node) error { return c.restartHalted(ctx, n, p.State) })
				continue
			case p.State == history.Frozen && !frozen:
				then(c.freeze)
				continue
			case p.State == history.Frozen:
				continue
			}
			n.stopped.Store(true)
			signal(agent.Stop)
		}
		if frozen { // it notices the signals only then
			then(c.thaw)
		}
	}
	return order, calls, troubles
}

// signal has the agent signal a node's processes.
func (c *Cluster) signal(ctx context.Context, n *node, kind agent.Kind) error {
	order := agent.Apply{Signals: []agent.Signal{{Node: n.name, Kind: kind}}}
	_, err := c.remote.ask(ctx, agent.Request{Apply: &order})
	return err
}

// restart starts a node again. The engine would take a container for running that has died a moment ago, so it must
// have noticed first.
func (c *Cluster) restart(ctx context.Context, n *node) error {
	select {
	case <-n.life.over:
	case <-ctx.Done():
		return fmt.Errorf("start %s: its last life does not end: %w", n.name, ctx.Err())
	}
	return c.start(ctx, n)
}

// restartHalted starts a node again and has it stand still at once.
func (c *Cluster) restartHalted(ctx context.Context, n *node, as history.ProcState) error {
	if err := c.restart(ctx, n); err != nil {
		return err
	}
	if as == history.Frozen {
		return c.freeze(ctx, n)
	}
	n.stopped.Store(true)
	if err := c.signal(ctx, n, agent.Stop); err != nil {
		return fmt.Errorf("pause %s: %w", n.name, err)
	}
	return nil
}

// ended waits until a node has ended that was asked to. One that does not care is killed.
func (c *Cluster) ended(ctx context.Context, n *node) error {
	select {
	case <-n.life.over:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", n.name, ctx.Err())
	case <-time.After(stopWithin):
	}
	err := c.signal(ctx, n, agent.Kill)
	select {
	case <-n.life.over:
	case <-ctx.Done():
	case <-time.After(seenWithin):
	}
	return errors.Join(fmt.Errorf("stop %s: it had not ended %v after SIGTERM, and was killed (the first process of a container ends by SIGTERM only if it handles it; an init such as tini before it does)", n.name, stopWithin), err)
}

// freeze has the engine keep a node's processes from running, and thaw lets them run again. One that a signal had
// stopped before is told to continue, which it will notice with the thaw.
func (c *Cluster) freeze(ctx context.Context, n *node) error {
	n.life.frozen = true
	err := each(n.containers, func(_ int, id string) error { return c.engine.api.ContainerPause(ctx, id) })
	if err == nil {
		err = c.signal(ctx, n, agent.Cont)
	}
	if err != nil {
		return fmt.Errorf("freeze %s: %w", n.name, err)
	}
	return nil
}

// One that was killed meanwhile may have ended before that, and then nothing of it is frozen any more: with control groups of version 2
// a kill reaches what is frozen.
func (c *Cluster) thaw(ctx context.Context, n *node) error {
	n.life.frozen = false
	err := each(n.containers, func(_ int, id string) error { return c.engine.api.ContainerUnpause(ctx, id) })
	if err == nil {
		return nil
	}
	if n.life.meant.Load() {
		select {
		case <-n.life.over:
			return nil
		case <-time.After(endWait):
		}
	}
	return fmt.Errorf("thaw %s: %w", n.name, err)
}

// spread is the time from the first to the last of the moments.
func spread(moments []time.Time) time.Duration {
	if len(moments) == 0 {
		return 0
	}
	return slices.MaxFunc(moments, time.Time.Compare).Sub(slices.MinFunc(moments, time.Time.Compare))
}

// State reads back what links and processes are really like now. It names only those that are not healthy: no cut, and
// running.
func (c *Cluster) State(ctx context.Context) (history.Changes, error) {
	answer, err := c.remote.ask(ctx, agent.Request{Read: true})
	if err != nil {
		return history.Changes{}, fmt.Errorf("read what state the containers are in: %w", err)
	}
	return *answer.State, nil
}
