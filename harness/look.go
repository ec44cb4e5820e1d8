package harness

import (
	"context"
	"fmt"
	"time"

	"recount/harness/record"
	"recount/internal/hint"
	"recount/virtual"
)

// Look makes a run of real servers in virtual time, and calls do at a moment of it, while nothing goes on. If do returns an error the run ends with that;
// else it goes on as if nothing had been, and is judged. Nothing of it is kept on disk.
func Look(ctx context.Context, p record.Plan, at time.Duration, do func(c *virtual.Cluster) error) (*record.Run, error) {
	looked := false
	r, err := inMemory(ctx, p, func(r *run) {
		r.moment = &virtual.Look{At: at, Do: func(c *virtual.Cluster) error {
			looked = true
			return do(c)
		}}
	})
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && !looked {
		last := r.Frame().Last.Round(time.Millisecond)
		err = Usage(hint.Add(fmt.Errorf("the run has ended by %v: at %v there is nothing to look at", last, at), "look at it before %v", last))
	}
	return r, err
}
