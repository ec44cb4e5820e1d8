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
	traps := o.Traps()
	for _, t := range traps {
		a.traps.set(t)
	}
	for _, s := range o.Signals {
		if s.Kind == Kill {
			a.fell(s.Node, true)
		}
	}
	touched, err := a.stage(o.Links, len(traps) > 0)
	if err != nil {
		return nil, err
	}
	came := &outcome{at: map[string]time.Time{}}
	for _, node := range o.Crash {
		if v := a.places[node].volume; v != nil {
			came.fails("crash "+node, v.prepare())
		}
	}
	for _, p := range touched {
		came.note(p.name, "links into "+p.name, p.filter.flush())
	}
	for _, t := range traps {
		came.note(t.Node, t.Name(), nil)
	}
	for _, c := range o.CPUs() {
		came.note(c.Node, c.Name(), a.places[c.Node].throttle(c))
	}
	for _, m := range o.Memories() {
		came.note(m.Node, m.Name(), a.places[m.Node].squeeze(m))
	}
	for _, s := range o.Signals {
		a.places[s.Node].signal(s.Kind, came)
	}
	for _, h := range o.Parts() {
		came.note(h.Node, h.Name(), a.hold(h))
	}
	a.changeDisks(o, came)
	return came.applied(), nil
}

// outcome is what becomes of a change.
type outcome struct {
	at     map[string]time.Time // by node: when the last part of it took effect there
	errors []string
}

// fails takes note of what did not work, if it did not, and reports whether that is so.
func (o *outcome) fails(what string, err error) bool {
	if err != nil {
		o.errors = append(o.errors, fmt.Sprintf("%s: %v", what, err))
	}
	return err != nil
}

// note takes note of a part of the change that has just taken effect on a node, or not, and reports whether it has.
func (o *outcome) note(node, what string, err error) bool {
	if o.fails(what, err) {
		return false
	}
	o.at[node] = time.Now()
	return true
}

// applied is how long ago that was.
func (o *outcome) applied() *Applied {
	now := time.Now()
	done := &Applied{Ago: make(map[string]time.Duration, len(o.at)), Errors: o.errors}
	for node, t := range o.at {
		done.Ago[node] = now.Sub(t)
	}
	return done
}

// signal signals the processes of a node.
func (p *place) signal(k Kind, came *outcome) {
	what := fmt.Sprintf("%s %s", k, p.name)
	if k == Kill { // nobody has to wait for a processor to die
		came.fails(what, p.unleash())
	}
	if !came.note(p.name, what, k.send(p.procs, p.heldParts())) {
		return
	}
	p.paused = k == Stop
	if p.volume != nil && k == Kill {
		p.volume.hurry(p.procs)
	}
}

// has returns an error if a node that is named is not here, or a part of one is not known.
func (a *agent) has(o Apply) error {
	nodes := slices.Clone(o.Crash)
	for _, s := range o.Signals {
		nodes = append(nodes, s.Node)
	}
	for _, s := range o.States() {
		nodes = append(nodes, s.Key().Nodes()...)
	}
	for _, node := range nodes {
		if a.places[node] == nil {
			return fmt.Errorf("no node %q here", node)
		}
	}
	for _, h := range o.Parts() {
		if a.parts[h.Process] == nil {
			return fmt.Errorf("no processes called %q here", h.Process)
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
