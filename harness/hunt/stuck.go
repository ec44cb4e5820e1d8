package hunt

import (
	"context"
	"fmt"

	"recount/harness"
	"recount/harness/record"
)

// Stuck is a run of real servers in virtual time that one of them brought to a standstill. It says nothing about their election, but it
// shows under which faults a server goes round in a loop.
type Stuck struct {
	Run  int // its number among those of its hunt, from 1
	Plan record.Plan
	Err  error
}

// mostStood is how many runs may have come to a standstill, without as many others, until a hunt ends: each takes as long as hundreds of
// others, and they are no single run's matter then.
const mostStood = 3

// stood takes note of run number k, from 0, which came to a standstill. An error says that there is no use in going on.
func (h *hunter) stood(k int, p record.Plan, err error) error {
	h.result.StoodStill++
	if h.result.Stuck == nil {
		h.result.Stuck = &Stuck{k + 1, p, err}
	}
	if n := h.result.StoodStill; n >= mostStood && n > h.result.Runs {
		first := h.result.Stuck
		return fmt.Errorf("%d of %d runs came to a standstill; the first, run %d, seed %d: %w", n, h.result.Done(), first.Run, first.Plan.Seed, first.Err)
	}
	return nil
}

// Stuck makes a run again that came to a standstill, so that it has a folder, with what its node wrote and the stacks of its goroutines. It
// returns the folder.
func (k Keeper) Stuck(ctx context.Context, s *Stuck) (dir string, err error) {
	r, err := harness.Run(ctx, s.Plan, harness.Config{Results: k.Results})
	if err != nil {
		return "", err
	}
	return r.Dir, nil
}
