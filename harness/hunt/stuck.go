package hunt

import (
	"context"

	"recount/harness"
	"recount/harness/record"
)

// Stuck is a run of real servers in virtual time that one of them brought to a standstill: a hunt ends there, for what another run does
// is of no use to who has such a server.
type Stuck struct {
	Run  int // its number among those of its hunt, from 1
	Plan record.Plan
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
