package harness

import (
	"context"
	"fmt"
	"time"
)

// healWithin is how long the healing of one fault may take: more than a cluster takes to give up.
const healWithin = 90 * time.Second

// heal ends all faults, one after the other, and compares what the cluster then is with what it should be.
func (r *run) heal(ctx context.Context) error {
	healed := false
	r.nemesis.Heal(func() { healed = true })
	within := healWithin + 5*r.reseating() // it is tried so often: see nemesis.Heal
	active := r.nemesis.Active()
	for limit := r.cluster.Now() + within; !healed; {
		if now := r.nemesis.Active(); now < active {
			active, limit = now, r.cluster.Now()+within
		}
		if r.cluster.Now() > limit {
			return fmt.Errorf("the cluster is not healed: no fault has ended for %v", within)
		}
		if err := r.cluster.Run(ctx, r.cluster.Now()+step); err != nil {
			return err
		}
	}
	return r.compare(ctx)
}
