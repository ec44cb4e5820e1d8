package sim

import (
	"errors"
	"fmt"

	"recount/history"
)

// Can tells whether changes can be imposed: the simulator can impose them all, on nodes that exist.
func (c *Cluster) Can(ch history.Changes) error {
	if len(ch.Clients) > 0 {
		return errors.New("the clients are not simulated here")
	}
	for dimension, states := range ch.More {
		for _, s := range states {
			switch s := s.(type) {
			case history.Trap:
				if err := c.canTrap(s); err != nil {
					return err
				}
			case history.CPU:
				if c.index(s.Node) < 0 {
					return fmt.Errorf("no node %q", s.Node)
				}
			default:
				return fmt.Errorf("%s is not simulated", dimension)
			}
		}
	}
	for _, l := range ch.Links {
		if err := c.links.Check(l); err != nil {
			return err
		}
	}
	if err := c.unfelt(ch.Links); err != nil {
		return err
	}
	for _, p := range ch.Procs {
		if c.index(p.Node) < 0 {
			return fmt.Errorf("no node %q", p.Node)
		}
		if err := p.Check(); err != nil {
			return err
		}
	}
	for _, k := range ch.Clocks {
		if c.index(k.Node) < 0 {
			return fmt.Errorf("no node %q", k.Node)
		}
		if k.Drift <= -1 {
			return fmt.Errorf("clock of %s cannot drift by %v: it would stand still or run back", k.Node, k.Drift)
		}
	}
	for _, d := range ch.Disks {
		if c.index(d.Node) < 0 {
			return fmt.Errorf("no node %q", d.Node)
		}
	}
	return nil
}

// Apply imposes changes, at this instant of virtual time. done is called within this call: what is true of the simulated
// cluster needs no probing.
func (c *Cluster) Apply(ch history.Changes, done func(history.Effect)) {
	if err := c.Can(ch); err != nil {
		done(history.Effect{Seen: history.Fail, Err: err})
		return
	}
	for _, l := range ch.Links {
		c.setLink(l)
	}
	var taken []*trap
	for _, t := range ch.Traps() {
		if old := c.setTrap(t); old != nil {
			taken = append(taken, old)
		}
	}
	for _, k := range ch.Clocks {
		n := &c.nodes[c.index(k.Node)]
		n.setClock(k.Offset, k.Drift)
	}
	for _, p := range ch.CPUs() {
		c.nodes[c.index(p.Node)].throttle(p)
	}
	// A disk changes under a process that has ended already, or is yet to be started.
	for _, p := range ch.Procs {
		if p.State.Ended() {
			c.nodes[c.index(p.Node)].become(p.State)
		}
	}
	for _, d := range ch.Disks {
		c.nodes[c.index(d.Node)].disk.set(d.DiskState)
	}
	for _, p := range ch.Procs {
		if !p.State.Ended() {
			c.nodes[c.index(p.Node)].become(p.State)
		}
	}
	done(history.Effect{Seen: history.OK, Missed: missed(taken)})
}

// become brings the process into a state.
func (n *node) become(state history.ProcState) {
	if state == n.state {
		return
	}
	switch state {
	case history.Down, history.Stopped:
		if n.state == history.Up && state == history.Stopped {
			n.resign()
		}
		if n.runs() {
			n.stop(state)
		}
		n.state = state
	case history.Crashed:
		n.stop(state)
	case history.Paused, history.Frozen:
		if !n.runs() {
			n.start()
		}
		if n.runs() { // its disk may not have let it start
			n.state = state
		}
	case history.Up:
		if n.runs() {
			n.resume()
		} else {
			n.start()
		}
	}
}

// index returns the place of a named node, or -1.
func (c *Cluster) index(name string) int32 { return int32(history.Place(c.names, name)) }

// ReadClocks tells how wrong the clocks of all nodes are whose process runs.
func (c *Cluster) ReadClocks(done func(map[string]history.Reading)) {
	readings := map[string]history.Reading{}
	for i := range c.nodes {
		if n := &c.nodes[i]; n.runs() {
			readings[n.name] = history.Reading{Wall: n.clock.Wall(c.now) - c.now, Monotonic: n.clock.Gained(c.now)}
		}
	}
	done(readings)
}

// State returns the true state of everything that Apply can change and that is not healthy.
func (c *Cluster) State() history.Changes {
	var s history.Changes
	for i := range c.nodes {
		n := &c.nodes[i]
		if n.state != history.Up {
			s.Procs = append(s.Procs, history.Proc{Node: n.name, State: n.state})
		}
		if n.disk.ill {
			s.Disks = append(s.Disks, history.Disk{Node: n.name, DiskState: n.disk.DiskState})
		}
		if n.clock.Offset != 0 || n.clock.Drift != 0 {
			s.Clocks = append(s.Clocks, history.Clock{Node: n.name, Offset: n.clock.Offset, Drift: n.clock.Drift})
		}
		if n.cpu.Share > 0 {
			s.Add(n.cpu)
		}
	}
	s.Links = c.links.All()
	for _, t := range c.traps {
		s.Add(t.Trap)
	}
	return s
}
