package harness

import (
	"context"
	"errors"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/sim"
	"recount/virtual"
)

// Future makes a run in virtual time that is that of a plan up to a moment, and from there on has the chance of another seed: what the network does
// and what nodes draw. It is judged, and neither its history nor anything else of it is kept.
func Future(ctx context.Context, p record.Plan, from time.Duration, chance uint64) (*record.Run, error) {
	if !record.Repeats(p.On) {
		return nil, Usage(hint.Add(errors.New("only a run in virtual time can be the same up to a moment"), "%v or %v makes one", hint.Set("on", record.OnSim), hint.Set("on", record.OnVirtual)))
	}
	return inMemory(ctx, p, func(r *run) {
		r.unkept = &history.Frame{}
		r.turnAt(from, chance)
	})
}

// turnAt has the run go on with the chance of another seed from a moment on.
func (r *run) turnAt(from time.Duration, chance uint64) {
	r.moment = &virtual.Look{At: from, Do: func(c *virtual.Cluster) error { c.Turn(chance); return nil }}
	r.prepare = func(c *sim.Cluster) { c.After(from, func() { c.Turn(chance) }) }
}
