//go:build linux

package agent

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"recount/history"
	"recount/internal/hint"
	"recount/internal/procstat"
)

// Parts of a node: those of its processes whose command line matches what the target says of them. They can be stopped while
// the others go on. What was just born is found by looking again, as with whole nodes. What is born later of a part that stands
// still, after a watchdog has ended that or with the node's next life, runs: to pause a process is nothing to the one after it. A part
// that is down stays so until it is healed: whoever starts it again, and in whichever life of the node, sees it end.

// parts are the patterns of command lines, by the names of parts.
type parts map[string]*regexp.Regexp

// unwell are the parts of a place that are not to run.
type unwell struct {
	held   map[string]stopped       // that are to stand still: those of their processes that were stopped
	downed map[string]chan struct{} // that are to be down; closed once they are not
}

func compileParts(patterns map[string]string) (parts, error) {
	all := parts{}
	for name, pattern := range patterns {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("processes %s: %w", name, err)
		}
		all[name] = re
	}
	return all, nil
}

// of names the parts that a process belongs to; none if it is gone.
func (ps parts) of(pid int) (names []string) {
	if len(ps) == 0 {
		return nil
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil
	}
	line := string(bytes.TrimRight(bytes.ReplaceAll(b, []byte{0}, []byte{' '}), " "))
	for name, re := range ps {
		if re.MatchString(line) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// anyOf tells whether a process belongs to one of the named parts.
func (ps parts) anyOf(named map[string]bool) func(pid int) bool {
	return func(pid int) bool {
		return len(named) > 0 && slices.ContainsFunc(ps.of(pid), func(name string) bool { return named[name] })
	}
}

// among tells whether any process of these containers belongs to a part. It fails if one belongs to others, too.
func (ps parts) among(containers []first, name string) (found bool, err error) {
	pids, err := members(containers)
	if err != nil {
		return false, err
	}
	for _, pid := range pids {
		names := ps.of(pid)
		if len(names) > 1 && slices.Contains(names, name) {
			return false, fmt.Errorf("process %d belongs to each of %s: let their patterns match less", pid, strings.Join(names, ", "))
		}
		found = found || slices.Contains(names, name)
	}
	return found, nil
}

func (ps parts) absent(name string) error { return fmt.Errorf("no process matches %q", ps[name]) }

// tellApart is nil if each part of a node has a process, and shares none with another.
func (a *agent) tellApart(node string) error {
	p, err := a.place(node)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(a.parts)) {
		found, err := a.parts.among(p.procs, name)
		if err == nil && !found {
			err = a.parts.absent(name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", history.Part{Node: node, Process: name}.Name(), err)
		}
	}
	return nil
}

// hold stops a part of a node, or lets it go on. A part of which nothing is left, as after a watchdog has killed what stood still,
// cannot be stopped, but goes on as soon as it is born again. The caller holds the agent's lock.
func (a *agent) hold(h history.Part) error {
	p := a.places[h.Node]
	if h.State != history.Paused {
		delete(p.parts.held, h.Process) // first of all: what stays held is not continued with its node, and not looked at
	}
	if done := p.parts.downed[h.Process]; done != nil {
		close(done)
		delete(p.parts.downed, h.Process)
	}
	found, err := a.parts.among(p.procs, h.Process)
	if err != nil {
		return err
	}
	switch {
	case !found && h.State == history.Up:
		return nil
	case !found:
		return a.parts.absent(h.Process)
	case h.State == history.Down:
		return a.bringDown(p, h.Process)
	}
	own := a.parts.anyOf(map[string]bool{h.Process: true})
	if h.State == history.Paused {
		if p.parts.held == nil {
			p.parts.held = map[string]stopped{}
		}
		all := stopped{}
		p.parts.held[h.Process] = all
		return suspend(p.procs, unix.SIGSTOP, func(pid int) bool { return own(pid) && all.add(pid) })
	}
	if p.paused { // with the whole node, which has it go on when it does itself
		return nil
	}
	return suspend(p.procs, unix.SIGCONT, own)
}

// bringDown ends a part of a node, and goes on to do so until it is held otherwise. The caller holds the agent's lock.
func (a *agent) bringDown(p *place, name string) error {
	own := a.parts.anyOf(map[string]bool{name: true})
	if slices.ContainsFunc(p.procs, func(f first) bool { return own(f.pid) }) {
		return hint.Add(fmt.Errorf("%q matches the first process of %s, with which all others end", a.parts[name], p.name), "kill %s is of the whole node", p.name)
	}
	if err := a.endPart(p, name); err != nil {
		return err
	}
	if p.parts.downed == nil {
		p.parts.downed = map[string]chan struct{}{}
	}
	done := make(chan struct{})
	p.parts.downed[name] = done
	go func() {
		for again := time.NewTicker(endsEvery); ; {
			select {
			case <-done:
				again.Stop()
				return
			case <-again.C:
				a.mu.Lock()
				if p.parts.downed[name] == done {
					_ = a.endPart(p, name) // who ends with its node is down, too
				}
				a.mu.Unlock()
			}
		}
	}()
	return nil
}

// endsEvery is how often is looked whether a part that is to be down was started again.
const endsEvery = 50 * time.Millisecond

// endPart ends what there is of a part.
func (a *agent) endPart(p *place, name string) error {
	return suspend(p.procs, unix.SIGKILL, a.parts.anyOf(map[string]bool{name: true}))
}

// down reports whether nothing is left of a part that is to be down, but for what was started this moment and ends now. The caller does not
// hold the agent's lock: what is to be changed meanwhile does not wait for it.
func (a *agent) down(part history.Part) (bool, error) {
	for deadline := time.Now().Add(200 * lookEvery); ; time.Sleep(lookEvery) {
		found, err := a.endDowned(part)
		if err != nil || !found || time.Now().After(deadline) {
			return !found, err
		}
	}
}

// endDowned ends what there is of a part, if it is to be down, and reports whether there was anything.
func (a *agent) endDowned(part history.Part) (found bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.places[part.Node]
	found, err = a.parts.among(p.procs, part.Process)
	if found && p.parts.downed[part.Process] != nil {
		_ = a.endPart(p, part.Process) // the next look tells
	}
	return found, err
}

// stopped are processes that a signal has stopped, by their numbers, and when each was started.
type stopped map[int]string

// add takes note of a process, if it is still there.
func (all stopped) add(pid int) bool {
	s, err := procstat.Of(pid)
	if err == nil {
		all[pid] = s.Started
	}
	return err == nil
}

// has reports whether a process is one of them, and not another of its number.
func (all stopped) has(pid int) bool {
	started, known := all[pid]
	if !known {
		return false
	}
	s, err := procstat.Of(pid)
	return err == nil && s.Started == started
}

// heldParts tells of processes whether they belong to a part that is meant to stand still, and were stopped for it.
func (p *place) heldParts() func(pid int) bool {
	held := slices.Collect(maps.Values(p.parts.held))
	return func(pid int) bool { return slices.ContainsFunc(held, func(all stopped) bool { return all.has(pid) }) }
}

// partState is what a part is like that is meant to stand still. What was stopped and has ended since has not gone on.
func (p *place) partState(name string) (history.ProcState, error) {
	held := p.parts.held[name]
	if !slices.ContainsFunc(slices.Collect(maps.Keys(held)), held.has) {
		return history.Paused, nil
	}
	state, _, err := observe(p.procs, func(pid int) bool { return !held.has(pid) })
	if state == history.Down || state == history.Frozen { // with the node, which says so
		state = history.Paused
	}
	return state, err
}

// parts looks whether parts of nodes stand still, or run, and whether no other process of theirs shares that.
func (v *Verified) parts(a *agent, procs map[string][]first, held map[string]func(pid int) bool, want []history.Part, within time.Duration) {
	deadline := time.Now().Add(within)
	for _, w := range want {
		own := a.parts.anyOf(map[string]bool{w.Process: true})
		for {
			state, why, err := observe(procs[w.Node], func(pid int) bool { return !own(pid) })
			if err == nil && w.State == history.Down { // what is not there cannot be observed
				var found bool
				if found, err = a.parts.among(procs[w.Node], w.Process); !found {
					state = history.Down
				}
			}
			others, _, otherErr := observe(procs[w.Node], held[w.Node])
			a.mu.Lock()
			whole := a.places[w.Node].paused || others == history.Frozen // the node stands still, with all of its parts
			a.mu.Unlock()
			switch {
			case err != nil:
				v.unsure(w.Key(), "%s: %v", w.Name(), err)
			case otherErr != nil:
				v.unsure(w.Key(), "%s: %v", w.Node, otherErr)
			case whole && (state == history.Paused || state == history.Frozen):
			case w.State == history.Up && state == history.Down: // nothing of it stands still
			case state == w.State && (w.State != history.Paused || others == history.Up):
			case time.Now().Before(deadline):
				time.Sleep(lookEvery)
				continue
			case state != w.State:
				v.wrong(w.Key(), "%s: is to be %s, but is %s %s", w.Name(), w.State, state, why)
			default:
				v.unsure(w.Key(), "%s is paused, but the other processes of %s are %s", w.Name(), w.Node, others)
			}
			break
		}
	}
}
