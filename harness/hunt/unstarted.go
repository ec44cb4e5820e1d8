package hunt

import (
	"context"
	"fmt"
	"slices"

	"recount/harness"
	"recount/harness/record"
)

// Unstarted is a run that did not start: a node ended before it was ready, or was not ready in time.
type Unstarted struct {
	Run  int // its number among those of its hunt, from 1
	Plan record.Plan
	Err  *harness.Unstarted
}

// GivenUp is a size of which no cluster started.
type GivenUp struct {
	Nodes int
	Err   error // of the first
}

// How many runs may not have started until a hunt ends: what is wrong then is no single run's.
const (
	noneStarted = 6  // where none did
	fewStarted  = 20 // where nine in ten did not
)

// take takes up what run number k, from 0, has come to. An error says that there is no use in going on.
func (h *hunter) take(k int, p record.Plan, t *trial) error {
	// By what is known in the order of the runs, whatever was known when it was made.
	if t.leftOut || h.starts.Never(p.Nodes) {
		h.result.LeftOut++
		h.Each(Trial{Plan: p, LeftOut: true})
		return nil
	}
	h.starts.Note(p.Nodes, t.unstarted == nil)
	if t.stood != nil {
		return h.stood(k, p, t.stood)
	}
	if t.unstarted == nil {
		h.note(k, p, t)
		return nil
	}
	h.result.NotStarted++
	h.Each(Trial{Plan: p, Unstarted: t.unstarted})
	if !slices.ContainsFunc(h.failed, func(u *Unstarted) bool { return u.Plan.Nodes == p.Nodes }) {
		h.failed = append(h.failed, &Unstarted{k + 1, p, t.unstarted})
	}
	if h.starts.Never(p.Nodes) { // not to be drawn again
		h.sizes = slices.DeleteFunc(slices.Clone(h.sizes), func(n int) bool { return n == p.Nodes })
	}
	failed := h.result.NotStarted
	if len(h.sizes) == 0 || h.result.Runs == 0 && failed >= noneStarted || failed >= fewStarted && failed >= 9*h.result.Runs {
		first := h.failed[0]
		h.result.Unstarted = first
		return fmt.Errorf("%d of %d runs did not start; the first, run %d, seed %d: %w", failed, failed+h.result.Runs, first.Run, first.Plan.Seed, first.Err)
	}
	return nil
}

// unstarted sums up which runs did not start.
func (h *hunter) unstarted() {
	for _, u := range h.failed {
		if h.starts.Never(u.Plan.Nodes) {
			h.result.GivenUp = append(h.result.GivenUp, GivenUp{u.Plan.Nodes, u.Err})
		} else if h.result.Unstarted == nil {
			h.result.Unstarted = u
		}
	}
	slices.SortFunc(h.result.GivenUp, func(a, b GivenUp) int { return a.Nodes - b.Nodes })
}

// Unstarted keeps a run that did not start, with what its nodes wrote. It returns the run's folder.
func (k Keeper) Unstarted(ctx context.Context, u *Unstarted) (dir string, err error) {
	return harness.KeepUnstarted(ctx, u.Plan, u.Err, k.Results, func(dir string) string { return Repeat(dir, u.Plan.Seed) })
}
