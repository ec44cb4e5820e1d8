package hunt

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/internal/seed"
	"recount/nemesis"
	"recount/targets"
	"recount/workloads"
)

// swarm is what the runs of one batch are drawn from: some of all that there is, after Groce and others, "Swarm Testing" (ISSTA
// 2012). What is always there can keep what is rare from happening.
type swarm struct {
	faults    []string
	workloads []string
	lasting   []string // of the faults, those that are there for long while others come and go
}

// batchSize is how many runs are drawn from one swarm.
const batchSize = 8

// Sizes are those of clusters where none are asked for, each as often as it is drawn.
var Sizes = []int{2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 5, 5, 5, 5, 5, 6, 7, 7, 9, 13}

// swarm draws that of run number k.
func (h *hunter) swarm(k int) swarm {
	rnd := seed.New(h.Seed, fmt.Sprintf("hunt batch %d", k/batchSize))
	var s swarm
	share := pick([]int{2, 2, 3, 6}, rnd) // one of so many faults is taken
	for len(s.faults) == 0 {
		for _, f := range h.Faults {
			if rnd.IntN(share) == 0 {
				s.faults = append(s.faults, f)
			}
		}
	}
	for _, name := range s.faults {
		if lasts(name) {
			s.lasting = append(s.lasting, name)
		}
	}
	s.workloads = slices.Clone(h.Workloads)
	for _, w := range h.Sometimes {
		if rnd.IntN(2) == 0 && !slices.Contains(s.workloads, w) {
			s.workloads = append(s.workloads, w)
		}
	}
	return s
}

// Faults are those that a hunt of a target draws from where none are asked for.
func Faults(target, on string) []string {
	return append(harness.Drawn(target, nil, on), nemesis.Eventful(on != record.OnSim)...)
}

// Workloads are those that a hunt for anything draws from: all that a target can be under, but for what takes a fence away.
func Workloads(t *targets.Target) (names []string) {
	for _, w := range workloads.All() {
		if w.Writes != workloads.AcceptStale {
			names = append(names, w.Name)
		}
	}
	return harness.Applicable(names, t)
}

// Promised are those of the workloads that a promise of the target cannot be judged without.
func Promised(names []string, t *targets.Target) (some []string) {
	for _, p := range t.AllPromises() {
		for _, name := range workloads.Serving(p.Property) {
			if slices.Contains(names, name) && !slices.Contains(some, name) {
				some = append(some, name)
			}
		}
	}
	return some
}

// lasts reports whether a fault is one that others may come in the middle of: that of a clock, or of single messages.
func lasts(name string) bool {
	f, err := nemesis.Find(name)
	return err == nil && (f.Clocks || f.Events || slices.ContainsFunc(f.Aims, func(a nemesis.Aim) bool { return a.Default == "others" }))
}

// edges are the drifts that just take no promise away: it is there that a margin must hold.
func edges(t *targets.Target) (all []float64) {
	for _, p := range t.AllPromises() {
		excused := func(drift float64) bool {
			did := history.Changes{Clocks: []history.Clock{{Node: "n2", Drift: drift}}}
			return t.Excused(p.Property, did) || t.Suspended(p.Property, did)
		}
		lo, hi := 0.0, 0.9
		if excused(1e-6) || !excused(hi) {
			continue
		}
		for hi-lo > 1e-6 {
			if mid := (lo + hi) / 2; excused(mid) {
				hi = mid
			} else {
				lo = mid
			}
		}
		if edge := lo * 0.999; !slices.Contains(all, edge) {
			all = append(all, edge)
		}
	}
	return all
}

// drift draws by how much a clock is to be wrong.
func (h *hunter) drift(rnd *rand.Rand) float64 {
	if len(h.edges) > 0 && rnd.IntN(3) > 0 {
		return pick(h.edges, rnd)
	}
	return pick([]float64{0.001, 0.01, 0.03, 0.1, 0.3, 0.5, 0.8}, rnd)
}
