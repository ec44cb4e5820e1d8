package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recount/history"
	"recount/nemesis"
)

// compareWithin is how long the cluster may take to become what the nemesis believes of it: a process takes a moment to die,
// and one that has just begun looks odd. One look may take as long.
const compareWithin = 15 * time.Second

// compare records whether the cluster really is what the nemesis believes. What is still being done to it then, such as clocks that give
// back what they have gained, may take as long as the healing of a fault.
func (r *run) compare(ctx context.Context) error {
	op := history.Op{Process: history.Harness, F: history.Compare}
	rests := r.cluster.Now() + healWithin
	for limit := r.cluster.Now() + compareWithin + r.reseating(); ; {
		if !r.nemesis.Idle() {
			limit = max(limit, min(rests, r.cluster.Now()+compareWithin))
		} else {
			state, err := r.stateOf(ctx)
			if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
				op.Type, op.Error = history.Info, fmt.Sprintf("it has not told for %v what it is", compareWithin)
				r.note("the cluster cannot be compared with what the nemesis believes: %s", op.Error)
				break
			}
			if err != nil {
				return err
			}
			if op.Error = nemesis.Compare(r.nemesis.Holds(), state, r.ended); op.Error == "" {
				op.Type = history.OK
				break
			}
			op.Type = history.Fail
		}
		if r.cluster.Now() > limit {
			if op.Type != history.Fail {
				op.Type, op.Error = history.Info, "the nemesis was never at rest"
			}
			r.note("the cluster is not what the nemesis believes: %s", op.Error)
			break
		}
		if err := r.cluster.Run(ctx, r.cluster.Now()+step); err != nil {
			return err
		}
	}
	r.append(op)
	return nil
}

// stateOf looks what the cluster is. One that hangs does not hold the run.
func (r *run) stateOf(ctx context.Context) (history.Changes, error) {
	ctx, cancel := context.WithTimeout(ctx, compareWithin)
	defer cancel()
	return r.cluster.State(ctx)
}
