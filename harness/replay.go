package harness

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/nemesis"
	"recount/targets"
	"recount/workloads"
)

// Replay is how a stored run is made again.
type Replay struct {
	Plan record.Plan
	// Exact says that the plan is the stored run's own, in simulation: what it makes must be the Same history. Otherwise
	// the faults are those of the stored run as they were resolved, and what the nodes make of them is their affair.
	Exact bool
	Notes []string // what is worth knowing before
	// Edited is the file that describes the target if it does not say what it said when the run was made; "" if it does, or none does.
	Edited string
}

// PlanReplay plans a stored run once more. Its seed, and what else with says of Target, Options and On, takes the place of
// what the run had; the properties it requires come on top.
func PlanReplay(r *record.Run, with record.Plan) (*Replay, error) {
	again, err := replay(r, with)
	return again, Usage(err)
}

func replay(r *record.Run, with record.Plan) (_ *Replay, err error) {
	setup := r.Setup()
	if setup == nil {
		return nil, hint.Add(fmt.Errorf("replay: the history does not begin with what it is the history of"),
			"name a run's folder, or the history.jsonl in it")
	}
	if err := edited(r); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	again := &Replay{Plan: r.Plan}
	p := &again.Plan
	p.Target, p.On, p.Nodes, p.Seed = setup.Target, setup.Cluster, len(setup.Candidates()), setup.Seed
	p.Options = maps.Clone(setup.Options) // defaults included: they may be others by now
	if with.Target, err = again.find(r, with.Target); err != nil {
		return nil, err
	}
	if setup.Version != Version {
		again.note("recorded by Recount %s; this is %s", setup.Version, Version)
	}
	changed, err := change(p, with)
	if err != nil {
		return nil, err
	}
	if r.Plan.Known() && record.Repeats(setup.Cluster) && !changed {
		if again.Exact = r.History.Complete(); !again.Exact {
			again.note("the recorded run was cut short: the histories are not compared")
		}
		return again, nil
	}
	if p.Recorded, err = nemesis.ActionsOf(r.History); err != nil {
		return nil, err
	}
	p.Schedule, p.Faults = nil, nil
	if !r.Plan.Known() {
		p.Workloads, p.Time = workloadsOf(r.History), faultTime(r.History)
		again.note("the history is all there is of the recorded run, without its %s: this is another run", record.RunFile)
	}
	again.note("the recorded faults on the recorded nodes; what follows from them need not be what was recorded")
	return again, nil
}

func (r *Replay) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// change puts what with says into the plan of a stored run, and reports whether that makes it another.
func change(p *record.Plan, with record.Plan) (changed bool, err error) {
	p.Require = slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.Require, with.Require))))
	if with.Seed != p.Seed {
		p.Seed, changed = with.Seed, true
	}
	if with.On != "" && with.On != p.On {
		p.On, changed = with.On, true
	}
	if p.On != record.OnVirtual {
		p.Goroutines = ""
	}
	if with.Target != "" && with.Target != p.Target {
		p.Target, p.Options, p.Expect, changed = with.Target, nil, nil, true
	}
	if len(with.Options) == 0 {
		return changed, nil
	}
	t, err := targets.Find(p.Target)
	if err != nil {
		return false, err
	}
	had, err := t.On(p.On != record.OnSim, p.Options).Parse(p.Options)
	if err != nil {
		return false, err
	}
	p.Options = maps.Clone(had.All())
	maps.Copy(p.Options, with.Options)
	if !maps.Equal(p.Options, had.All()) {
		p.Expect, changed = nil, true
	}
	return changed, nil
}

// workloadsOf tells from a history without a plan what its clients did.
func workloadsOf(h *history.History) []string {
	writes := workloads.NoWrites
	switch {
	case h.Setup().Recorded:
		writes = workloads.AcceptStale
	case slices.ContainsFunc(h.Ops, func(op history.Op) bool { return op.F == history.Write }):
		writes = workloads.RefuseStale
	}
	for _, w := range workloads.All() {
		if w.Writes != workloads.NoWrites && w.Writes == writes {
			return []string{w.Name}
		}
	}
	return nil
}

// faultTime tells from a history without a plan how long its nemesis was at work.
func faultTime(h *history.History) time.Duration {
	settled, _ := h.Frame().Settled()
	last := settled
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Process == history.Nemesis {
			last = op.Time
		}
	}
	return max(last-settled, time.Second)
}

// Same compares a recorded history with the one that its plan has just made, op by op. An error names the first that
// differs. That they were made by different versions of Recount is no difference, nor is where the file lay that describes
// the target.
func Same(recorded, made *history.History) error {
	var a, b []byte
	for i := range max(len(recorded.Ops), len(made.Ops)) {
		a, b = line(a[:0], recorded, i), line(b[:0], made, i)
		if bytes.Equal(a, b) {
			continue
		}
		err := fmt.Errorf("replay: op %d differs: recorded %s, now %s", i, a, b)
		if s := recorded.Setup(); s != nil && s.Version != Version {
			return hint.Add(err, "it was recorded by Recount %s, and this is %s", s.Version, Version)
		}
		return hint.Add(err, "the target's code or Recount's is not what it was, or is not deterministic")
	}
	return nil
}

// line is op i of a history as it is written, or a word for none. By which path the file that describes the target was found, and by
// which version of Recount, is left out.
func line(b []byte, h *history.History, i int) []byte {
	if i >= len(h.Ops) {
		return append(b, "nothing"...)
	}
	op := h.Ops[i]
	if op.F == history.Begin && op.Setup != nil {
		setup := *op.Setup
		setup.Version = Version
		if targets.IsFile(setup.Target) {
			setup.Target = record.DefinitionFile
		}
		op.Setup = &setup
	}
	return op.AppendJSON(b)
}
