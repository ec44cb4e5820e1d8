//go:build linux

package agent

import (
	"fmt"
	"maps"
	"slices"

	"recount/history"
)

// read reports all that is not as in a healthy cluster. The state of a node of which only a part runs is "".
func (a *agent) read() (*history.Changes, error) {
	c, downed, err := a.readNow()
	if err != nil {
		return nil, err
	}
	for _, part := range downed {
		down, err := a.down(part)
		if err != nil {
			return nil, fmt.Errorf("processes of %s: %w", part.Name(), err)
		}
		if down {
			c.Add(part)
		}
	}
	return c, nil
}

// readNow is read but for the parts of nodes that are to be down, which it names: what was just started of them takes a moment to end.
func (a *agent) readNow() (now *history.Changes, downed []history.Part, err error) {
	c := history.Changes{Clocks: a.skews()}
	a.mu.Lock()
	defer a.mu.Unlock()
	c.Disks = a.diskStates()
	for _, t := range a.traps.states() {
		c.Add(t)
	}
	for _, p := range a.places {
		into, err := p.filter.read()
		if err != nil {
			return nil, nil, fmt.Errorf("links into %s: %w", p.name, err)
		}
		for in, s := range p.links {
			if addrs := a.places[in.from].addrs; s.Picked && len(addrs) > 0 {
				src := source{addrs[0], uint16(in.port)}
				was := into[src]
				was.Picked = true
				into[src] = was
			}
		}
		for src, s := range into {
			from := "" // a stranger
			first := true
			for _, q := range a.places {
				if i := slices.Index(q.addrs, src.addr); i >= 0 {
					from, first = q.name, i == 0
				}
			}
			if first && s != (history.LinkState{}) {
				c.Links = append(c.Links, history.Link{From: from, To: p.name, Port: int(src.port), LinkState: s})
			}
		}
		cpu, err := p.cpuState()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p.processor.asked.Name(), err)
		}
		if cpu.Share > 0 {
			c.Add(cpu)
		}
		memory, err := p.memoryState()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p.memory.asked.Name(), err)
		}
		if memory.Fails() {
			c.Add(memory)
		}
		state, err := p.procState()
		if err != nil {
			return nil, nil, fmt.Errorf("processes of %s: %w", p.name, err)
		}
		if state != history.Up {
			c.Procs = append(c.Procs, history.Proc{Node: p.name, State: state})
		}
		for _, name := range slices.Sorted(maps.Keys(p.parts.held)) {
			state, err := p.partState(name)
			if err != nil {
				return nil, nil, fmt.Errorf("processes of %s/%s: %w", p.name, name, err)
			}
			c.Add(history.Part{Node: p.name, Process: name, State: state})
		}
		for _, name := range slices.Sorted(maps.Keys(p.parts.downed)) {
			downed = append(downed, history.Part{Node: p.name, Process: name, State: history.Down})
		}
	}
	return &c, downed, nil
}

// procState is the state of a node's processes, "" of one of which only a part runs. What came into one that stands still has to do so, too,
// which the next look sees.
func (p *place) procState() (history.ProcState, error) {
	state, _, err := observe(p.procs, p.heldParts())
	if err == nil && p.paused && state == "" {
		err = halt(p.procs)
	}
	return state, err
}
