package harness

import (
	"fmt"
	"slices"

	"recount/election"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/targets"
	"recount/workloads"
)

// Which workloads a target can be under.

// Applicable returns the workloads that make sense for a target.
func Applicable(words []string, t *targets.Target) (fitting []string) {
	o, err := t.Parse(nil)
	for _, name := range words {
		if w, unknown := workloads.Find(name); err == nil && unknown == nil && fits(w, t, o) == nil {
			fitting = append(fitting, name)
		}
	}
	return fitting
}

// fits tells why a target cannot be under a workload, if it cannot.
func fits(w *workloads.Workload, t *targets.Target, o targets.Options) error {
	if w.Needs != 0 && !t.Can(w.Needs, o) {
		what, lacks := needed(w.Needs)
		err := fmt.Errorf("workload %s: %s cannot %s", w.Name, t.Name, what)
		if t.Definition != nil {
			return hint.Add(err, "%s; or leave the workload out", lacks)
		}
		return hint.Add(err, "recount list workloads says what each takes")
	}
	if t.System == nil || w.Writes == workloads.NoWrites {
		return nil
	}
	y, err := t.System(o)
	if err != nil {
		return err
	}
	writer, told := resourceOf(y)
	switch own := writer != nil || told != nil; {
	case own && w.Writes == workloads.AcceptStale:
		return hint.Add(fmt.Errorf("workload %s: %s has a resource of its own, which decides what it takes", w.Name, t.Name),
			"take the workload fence: it is about that one")
	case told == nil && observed(y) == election.ByLogs:
		return hint.Add(fmt.Errorf("workload %s: its writer asks each node whether it leads, and %s is observed by logs alone", w.Name, t.Name),
			"observe it by http, metrics or a command, have its log tell of its own writes (writes: {log: …}), or leave the workload out")
	}
	return nil
}

// needed is what a workload wants nodes to do, in words, and what a file lacks that does not say how.
func needed(do election.Verb) (what, lacks string) {
	switch do {
	case election.Resign:
		return "be asked to hand over", "the file lacks resign, which says how a leader is asked: resign: {http: /resign}"
	case election.Update:
		return "tell of what its leaders decide", "no field of a file is for that: only an algorithm in Go does it"
	}
	return "read and write a number for clients", "the file lacks register, which says how: register: {get: {http: /kv/x}, put: {http: /kv/x, body: '{{.Value}}'}}"
}

// observed is how a system's members are observed.
func observed(y election.System) election.Way {
	if o, says := y.(election.Observed); says {
		return o.Observed()
	}
	return election.OverDial
}

// silent returns what tells whether nobody can ask a node: where logs alone tell who leads, the servers that nodes elect through are asked.
func (s *subject) silent() func(node string) bool {
	byLogs := false
	if s.target.System != nil {
		y, err := s.target.System(s.options)
		byLogs = err == nil && observed(y) == election.ByLogs
	}
	return func(node string) bool { return byLogs && !slices.Contains(s.servers, node) }
}

// runnable tells why leaders cannot write where the run takes place, if they cannot: no command runs in virtual time.
func (s *subject) runnable(w *workloads.Workload) error {
	if s.On != record.OnVirtual || w.Writes == workloads.NoWrites {
		return nil
	}
	y, err := s.target.System(s.options)
	if err != nil {
		return err
	}
	overDial := observed(y) == election.OverDial || observed(y) == election.FromHere
	if writer, told := resourceOf(y); writer != nil || told == nil && !overDial {
		return hint.Add(fmt.Errorf("workload %s: no command runs in virtual time, and leaders of %s write by one", w.Name, s.Target),
			"add %v, or leave the workload out", hint.Set("on", record.OnDocker))
	}
	return nil
}
