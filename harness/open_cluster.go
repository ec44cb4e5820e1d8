package harness

import (
	"context"

	"recount/harness/record"
)

// openCluster opens the cluster that the plan asks for.
func (r *run) openCluster(ctx context.Context, dir string) (Cluster, error) {
	switch r.On {
	case record.OnSim:
		c, err := openSimulated(r.subject)
		if err == nil && r.prepare != nil {
			r.prepare(c.Cluster)
		}
		return c, err
	case record.OnVirtual:
		c, err := openVirtual(ctx, r)
		if err != nil {
			return nil, err
		}
		r.built = c.built
		if r.messages != nil {
			c.OnPacket(newPackets(c.system, r.messages).sent)
		}
		return c, nil
	}
	c, err := openContainers(ctx, r.subject, record.RunID(dir), r.Config)
	if err != nil {
		return nil, err
	}
	r.built = c.built
	if r.messages != nil {
		r.countTraffic(ctx, c)
	}
	return c, nil
}
