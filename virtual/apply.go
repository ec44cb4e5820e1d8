package virtual

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"recount/history"
	"recount/internal/hint"
	"recount/virtual/wire"
)

// stopWithin is how long a node may take to end that was asked to, before it is killed.
const stopWithin = 10 * time.Second

// risingWithin is how long it takes until all nodes are started that are started again together: an engine starts one after the other, and which
// is up first, and finds nobody there, is a matter of chance.
const risingWithin = 100 * time.Millisecond

// Can tells whether changes can be imposed.
func (c *Cluster) Can(ch history.Changes) error {
	for _, s := range ch.States() {
		if err := c.can(s); err != nil {
			return err
		}
	}
	return nil
}

// can tells whether one thing can be brought into a state: nil, or an error that says why not.
func (c *Cluster) can(s history.State) error {
	names := s.Key().Nodes()
	if t, is := s.(history.Trap); is {
		names = append(names, t.Receivers()...)
	}
	for _, name := range names {
		if c.named(name) == nil {
			return hint.Unknown("node", name, c.config.Nodes)
		}
	}
	switch s := s.(type) {
	case history.Client:
		return errors.New("the clients are not among the nodes")
	case history.Link:
		return c.links.Check(s)
	case history.Proc:
		if s.State == history.Crashed && !c.config.Disks {
			return fmt.Errorf("%s cannot crash: what it synced is not kept track of in this run", s.Node)
		}
		return s.Check()
	case history.Clock:
		if s.Drift <= -1 {
			return fmt.Errorf("clock of %s cannot drift by %v: it would stand still or run back", s.Node, s.Drift)
		}
	case history.Trap:
		return c.canTrap(s)
	case history.Disk, history.CPU:
	default:
		return fmt.Errorf("%s cannot be changed in virtual time", s.Key().Dimension)
	}
	return nil
}

// Apply imposes changes, at this instant of virtual time, and calls done once they have taken effect: at once, but for
// processes that are asked to end.
func (c *Cluster) Apply(ch history.Changes, done func(history.Effect)) {
	if err := c.Can(ch); err != nil {
		done(history.Effect{Seen: history.Fail, Err: err})
		return
	}
	for _, l := range ch.Links {
		c.links.Set(l)
	}
	for _, k := range ch.Clocks {
		c.named(k.Node).clock.Set(c.now, k.Offset, k.Drift)
	}
	for _, p := range ch.CPUs() {
		c.named(p.Node).cpu = p
	}
	for _, t := range ch.Traps() {
		c.setTrap(t)
	}
	began, waits := c.now, 1
	var errs []error
	var missed []history.Key
	seen := history.Fail
	tried := func(s history.State, err error) {
		if err != nil {
			errs, missed = append(errs, err), append(missed, s.Key())
			if errors.Is(err, errUnfelt) {
				seen = history.Info
			}
		}
	}
	over := func() {
		if waits--; waits > 0 {
			return
		}
		e := history.Effect{Seen: history.OK, Spread: c.now - began}
		if e.Err = errors.Join(errs...); e.Err != nil {
			e.Seen = seen
		}
		done(history.Partly(ch, missed, e))
	}
	for _, d := range ch.Disks {
		n := c.named(d.Node) // before its machine dies
		n.disk = n.disk.And(d.Left())
	}
	// A disk changes under a process that has ended already, or is yet to be started.
	for _, p := range ch.Procs {
		if p.State.Ended() {
			waits++
			tried(p, c.named(p.Node).fall(p.State, over))
		}
	}
	for _, d := range ch.Disks {
		tried(d, c.named(d.Node).setDisk(d.DiskState))
	}
	starting := 0
	for _, p := range ch.Procs {
		if !p.State.Ended() && !c.named(p.Node).runs() {
			starting++
		}
	}
	for _, p := range ch.Procs {
		n := c.named(p.Node)
		if p.State.Ended() {
			continue
		}
		if starting < 2 || n.runs() {
			tried(p, n.rise(p.State))
			continue
		}
		waits++
		c.After(time.Duration(c.start.Int64N(int64(risingWithin))), func() {
			tried(p, n.rise(p.State))
			over()
		})
	}
	over()
}

// fall brings the node into a state without processes, and calls over when it is in it.
func (n *node) fall(state history.ProcState, over func()) error {
	if state == n.state {
		over()
		return nil
	}
	was := n.state
	n.state = state
	if state == history.Stopped && was == history.Up && n.runs() {
		n.stop(over)
		return nil
	}
	defer over()
	if state == history.Crashed {
		return errors.Join(n.crash(), n.lose())
	}
	return n.kill()
}

// stop asks the node's own process to end, and kills it if it does not. If something else ends it meanwhile, over is called then.
func (n *node) stop(over func()) {
	p, life := n.procs[0], n.life
	p.ends = over
	p.tell(wire.Signal, 0, wire.Put32(nil, uint32(syscall.SIGTERM)))
	n.c.After(stopWithin, func() {
		if n.life == life && !p.ended {
			if err := n.kill(); err != nil {
				n.c.lose(err)
			}
		}
	})
}

// rise brings the node into a state with processes.
func (n *node) rise(state history.ProcState) error {
	was := n.state
	if state == was {
		return nil
	}
	if !n.runs() {
		if err := n.start(); err != nil {
			return err
		}
	}
	if !n.runs() {
		return fmt.Errorf("%s ends as soon as it is started; its log is in nodes/%s.log", n.name, n.name)
	}
	if n.state = state; state == history.Up {
		for _, p := range n.procs {
			p.floor = n.c.now
		}
	}
	return nil
}

// ReadClocks tells how wrong the clocks of all nodes are that run.
func (c *Cluster) ReadClocks(done func(map[string]history.Reading)) {
	readings := map[string]history.Reading{}
	for _, n := range c.nodes {
		if n.runs() {
			readings[n.name] = history.Reading{Wall: n.clock.Wall(c.now) - c.now, Monotonic: n.clock.Gained(c.now)}
		}
	}
	done(readings)
}
