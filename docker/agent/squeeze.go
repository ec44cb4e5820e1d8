//go:build linux

package agent

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"recount/history"
)

// A node whose memory is squeezed has a limit on that of its containers' groups of processes. Groups are of one life of a
// container; its next life has another, with the same limit.

// memoryFiles are a group's limit, and what counts against it.
var memoryFiles = map[int]struct{ limit, used string }{
	1: {"memory.limit_in_bytes", "memory.usage_in_bytes"},
	2: {"memory.max", "memory.current"},
}

// squeezed is one container whose memory is limited.
type squeezed struct {
	group
	was string // its limit before
	now int64
}

// memory is what was done to a place's.
type memory struct {
	asked  history.Memory
	bounds map[int]int64 // on what its containers may use, in bytes, since that was asked for: by their places among procs, once they have run
	held   []squeezed    // its containers, while they have them
}

// page is what limits are multiples of.
var page = int64(os.Getpagesize())

// squeezing finds what the memory of a process can be limited by.
func (c cgroups) squeezing(pid int) (s squeezed, err error) {
	if s.group, err = c.of(fmt.Sprint(pid), "memory"); err == nil {
		s.was, err = s.read(memoryFiles[s.version].limit)
	}
	return s, err
}

// uses is how much memory a group uses, without the caches of files that it has not touched for a while.
func (g group) uses() (int64, error) {
	used, err := g.number(memoryFiles[g.version].used)
	if err != nil {
		return 0, err
	}
	name := map[int]string{1: "total_inactive_file", 2: "inactive_file"}[g.version]
	cached, err := g.count("memory.stat", name)
	return max(used-cached, 0), err
}

// bounded limits a group's memory. Version 1 refuses a limit for which it cannot take back enough, and version 2 ends processes until it
// can: so in version 1 the limit is the least that it takes.
func (s *squeezed) bounded(limit int64) error {
	const tries = 100
	limit = max(limit/page, 1) * page
	for try := 0; ; try++ {
		err := s.write(memoryFiles[s.version].limit, fmt.Sprint(limit))
		if !errors.Is(err, unix.EBUSY) || try == tries {
			s.now = limit
			return err
		}
		used, err := s.number(memoryFiles[s.version].used)
		if err != nil {
			return err
		}
		limit = max(limit, used) + int64(try)*16*page
	}
}

// squeeze brings the memory of a node into a state: of those of its containers that run, and of its next lives. The caller holds the
// agent's lock.
func (p *place) squeeze(m history.Memory) error {
	if err := p.relieve(); err != nil {
		return err
	}
	p.memory.asked, p.memory.bounds = m, map[int]int64{}
	if !m.Fails() {
		return nil
	}
	return p.press()
}

// press limits the node's containers: to what they use, times a factor, or in a later life to what that was.
func (p *place) press() error {
	for i, f := range p.procs {
		s, err := p.groups.squeezing(f.pid)
		if !f.alive() { // and its number may be another's: what was found would be of a stranger
			continue
		} else if err != nil {
			return err
		}
		if _, known := p.memory.bounds[i]; !known {
			uses, err := s.uses()
			if err != nil {
				return err
			}
			limit := p.memory.asked.Bytes
			if by := int64(p.memory.asked.Times * float64(uses)); p.memory.asked.Times > 0 && (limit == 0 || by < limit) {
				limit = by
			}
			p.memory.bounds[i] = limit
		}
		if err := s.bounded(p.memory.bounds[i]); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		p.memory.held = append(p.memory.held, s)
	}
	return nil
}

// relieve gives the node's containers the limits back that they had.
func (p *place) relieve() error {
	var errs []error
	for _, s := range p.memory.held {
		if err := s.write(memoryFiles[s.version].limit, s.was); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	p.memory.held = nil
	return errors.Join(errs...)
}

// canSqueeze tells whether a node's memory can be limited, by a look at its anchor.
func (p *place) canSqueeze() error {
	s, err := p.groups.squeezing(p.anchor.pid)
	if err != nil {
		return err
	}
	_, err = s.uses()
	return err
}

// limited looks whether a group has its limit.
func (s squeezed) limited() (wrong string, err error) {
	text, err := s.read(memoryFiles[s.version].limit)
	if err != nil {
		return "", err
	}
	if text != fmt.Sprint(s.now) {
		wrong = fmt.Sprintf("the kernel's limit is %s bytes, and should be %d", text, s.now)
	}
	return wrong, nil
}

// memoryState is what the memory of a node is like: as was asked for, unless the kernel has it otherwise. A node that does not run
// has what its next life is to have.
func (p *place) memoryState() (history.Memory, error) {
	for _, s := range p.memory.held {
		switch wrong, err := s.limited(); {
		case errors.Is(err, os.ErrNotExist): // the container has ended
		case err != nil:
			return p.memory.asked, err
		case wrong != "":
			return history.Memory{Node: p.name}, nil
		}
	}
	return p.memory.asked, nil
}

// memories looks whether nodes have their limits: those whose memory is changed, and those that are started. A node that the kernel
// ended over it has felt it.
func (v *Verified) memories(a *agent, places map[string]*place, want history.Changes) {
	nodes := started(want) // and whether its memory is what was changed
	for _, m := range want.Memories() {
		nodes[m.Node] = m.Fails()
	}
	for node, changed := range nodes {
		p := places[node]
		if p == nil {
			continue
		}
		a.mu.Lock()
		memory, all := p.memory.asked, append([]squeezed(nil), p.memory.held...)
		a.mu.Unlock()
		if changed && len(all) == 0 {
			v.unsure(memory.Key(), "%s: %s is down, and will be limited when it runs", memory.Name(), node)
		}
		for _, s := range all {
			wrong, err := s.limited()
			v.looked(memory, wrong, err)
		}
	}
}
