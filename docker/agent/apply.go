//go:build linux

package agent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"recount/history"
)

// apply prepares everything first, so that the changes themselves follow each other closely.
func (a *agent) apply(o Apply) (*Applied, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.has(o); err != nil {
		return nil, err
	}
	for _, t := range o.Traps {
		a.traps.set(t)
	}
	for _, s := range o.Signals {
		if s.Kind == Kill {
			a.fell(s.Node, true)
		}
	}
	touched, err := a.stage(o.Links, len(o.Traps) > 0)
	if err != nil {
		return nil, err
	}
	done, at := &Applied{}, map[string]time.Time{}
	for _, node := range o.Crash {
		if v := a.places[node].volume; v != nil {
			if err := v.prepare(); err != nil {
				done.Errors = append(done.Errors, fmt.Sprintf("crash %s: %v", node, err))
			}
		}
	}
	for _, p := range touched {
		if err := p.filter.flush(); err != nil {
			done.Errors = append(done.Errors, fmt.Sprintf("links into %s: %v", p.name, err))
			continue
		}
		at[p.name] = time.Now()
	}
	for _, t := range o.Traps {
		at[t.Node] = time.Now()
	}
	for _, c := range o.CPUs {
		if err := a.places[c.Node].throttle(c); err != nil {
			done.Errors = append(done.Errors, fmt.Sprintf("%s: %v", c.Name(), err))
			continue
		}
		at[c.Node] = time.Now()
	}
	for _, m := range o.Memories {
		if err := a.places[m.Node].squeeze(m); err != nil {
			done.Errors = append(done.Errors, fmt.Sprintf("%s: %v", m.Name(), err))
			continue
		}
		at[m.Node] = time.Now()
	}
	for _, s := range o.Signals {
		if s.Kind == Kill { // nobody has to wait for a processor to die
			if err := a.places[s.Node].unleash(); err != nil {
				done.Errors = append(done.Errors, fmt.Sprintf("%s %s: %v", s.Kind, s.Node, err))
			}
		}
		if err := s.Kind.send(a.places[s.Node].procs, a.places[s.Node].heldParts()); err != nil {
			done.Errors = append(done.Errors, fmt.Sprintf("%s %s: %v", s.Kind, s.Node, err))
			continue
		}
		at[s.Node], a.places[s.Node].paused = time.Now(), s.Kind == Stop
		if v := a.places[s.Node].volume; v != nil && s.Kind == Kill {
			v.hurry(a.places[s.Node].procs)
		}
	}
	for _, h := range o.Parts {
		if err := a.hold(h); err != nil {
			done.Errors = append(done.Errors, fmt.Sprintf("%s: %v", h.Name(), err))
			continue
		}
		at[h.Node] = time.Now()
	}
	a.changeDisks(o, done, at)
	now := time.Now()
	done.Ago = make(map[string]time.Duration, len(at))
	for node, t := range at {
		done.Ago[node] = now.Sub(t)
	}
	return done, nil
}

// has returns an error if a node that is named is not here.
func (a *agent) has(o Apply) error {
	for _, l := range o.Links {
		if a.places[l.From] == nil || a.places[l.To] == nil {
			return fmt.Errorf("no link %s→%s here", l.From, l.To)
		}
	}
	nodes := slices.Clone(o.Crash)
	for _, s := range o.Signals {
		nodes = append(nodes, s.Node)
	}
	for _, d := range o.Disks {
		nodes = append(nodes, d.Node)
	}
	for _, c := range o.CPUs {
		nodes = append(nodes, c.Node)
	}
	for _, m := range o.Memories {
		nodes = append(nodes, m.Node)
	}
	for _, t := range o.Traps {
		nodes = append(nodes, t.Node)
	}
	for _, h := range o.Parts {
		nodes = append(nodes, h.Node)
		if a.parts[h.Process] == nil {
			return fmt.Errorf("no processes called %q here", h.Process)
		}
	}
	for _, node := range nodes {
		if a.places[node] == nil {
			return fmt.Errorf("no node %q here", node)
		}
	}
	return nil
}

// stage queues in the kernel what links are to be like, and returns the places into which they lead, each once. Where traps are others
// than they were, so are the packets that have to be looked at, everywhere.
func (a *agent) stage(links []history.Link, trapped bool) (touched []*place, err error) {
	if trapped {
		touched = slices.Collect(maps.Values(a.places))
	}
	for _, l := range links {
		to := a.places[l.To]
		if to.links[inbound{l.From, l.Port}] = l.LinkState; l.LinkState == (history.LinkState{}) {
			delete(to.links, inbound{l.From, l.Port})
		}
		if !slices.Contains(touched, to) {
			touched = append(touched, to)
		}
	}
	for _, p := range touched {
		if err := p.filter.stage(a.sources(p)); err != nil {
			return nil, fmt.Errorf("links into %s: %w", p.name, err)
		}
	}
	return touched, nil
}

// sources are what packets into a place suffer, by the addresses they come from.
func (a *agent) sources(p *place) states {
	all := states{}
	for in, s := range p.links {
		for _, addr := range a.places[in.from].addrs {
			all[source{addr, uint16(in.port)}] = s
		}
	}
	ending := a.traps.ending()
	for _, from := range a.places {
		if from != p && (ending[from.name] || ending[p.name]) {
			for _, addr := range from.addrs {
				s := all[source{addr: addr}]
				s.Picked = true
				all[source{addr: addr}] = s
			}
		}
	}
	return all
}

// send signals the processes of a node: all, but that what asks it to end is for its own container to hear, since the others are
// there for that one until it has ended. Those of parts that are held stay as they are when the others go on.
func (k Kind) send(procs []first, held func(pid int) bool) error {
	switch k {
	case Kill:
		for _, f := range procs {
			if err := f.kill(); err != nil {
				return err
			}
		}
		return nil
	case Term:
		if len(procs) == 0 {
			return nil
		}
		if err := procs[0].signal(unix.SIGTERM); err != nil {
			return err
		}
		for _, f := range procs { // one that stands still could not heed it; one that has ended needs no more
			if err := suspend([]first{f}, unix.SIGCONT, nil); err != nil && !errors.Is(err, errGone) {
				return err
			}
		}
		return nil
	case Stop:
		return suspend(procs, unix.SIGSTOP, nil)
	case Cont:
		return suspend(procs, unix.SIGCONT, func(pid int) bool { return !held(pid) })
	}
	return fmt.Errorf("unknown signal %q", string(k))
}
