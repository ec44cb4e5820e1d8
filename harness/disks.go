package harness

import (
	"slices"

	"recount/history"
	"recount/nemesis"
)

// failsDisks reports whether a plan has faults of disks, or machines that crash: its nodes are then put on disks that can
// fail. That costs speed, and takes an engine that lets Recount's agent use FUSE.
func (s *subject) failsDisks() bool {
	return s.Schedule.Disks() || slices.ContainsFunc(s.Recorded, func(d nemesis.Action) bool {
		return len(d.Fault.Disks) > 0 ||
			slices.ContainsFunc(d.Fault.Traps(), func(t history.Trap) bool { return t.Do == history.Finish }) ||
			slices.ContainsFunc(d.Fault.Procs, func(p history.Proc) bool { return p.State == history.Crashed })
	})
}
