package harness

import (
	"context"
	"time"

	"recount/history"
	"recount/nemesis"
)

// compareWithin is how long the cluster may take to become what the nemesis believes of it: a process takes a moment to die,
// and one that has just begun looks odd.
const compareWithin = 10 * time.Second

// compare records whether the cluster really is what the nemesis believes.
func (r *run) compare(ctx context.Context) error {
	op := history.Op{Process: history.Harness, F: history.Compare}
	for limit := r.cluster.Now() + compareWithin + r.reseating(); ; {
		if r.nemesis.Idle() {
			state, err := r.cluster.State(ctx)
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
