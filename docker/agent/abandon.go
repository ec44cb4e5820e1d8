//go:build linux

package agent

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"recount/internal/procstat"
)

// abandon kills a command, and what it has started. It is no error if it has ended; what its number may be of by now, outside of the
// node's containers or as the first in one, is left alone.
func (a *agent) abandon(c Command) error {
	p, err := a.place(c.Node)
	if err != nil {
		return err
	}
	a.mu.Lock()
	procs := p.procs
	a.mu.Unlock()
	pids, err := members(procs)
	if err != nil {
		return err
	}
	if !slices.Contains(pids, c.Pid) || slices.ContainsFunc(procs, func(f first) bool { return f.pid == c.Pid }) {
		return nil
	}
	children := map[int][]int{}
	for _, pid := range pids {
		if s, err := procstat.Of(pid); err == nil {
			children[s.Parent] = append(children[s.Parent], pid)
		}
	}
	var errs []error
	for due := []int{c.Pid}; len(due) > 0; due = due[1:] {
		due = append(due, children[due[0]]...)
		errs = append(errs, deliver(due[0], unix.SIGKILL))
	}
	return errors.Join(errs...)
}
