package cli

import (
	"context"
	"fmt"
	"os"

	"recount/harness"
	"recount/harness/record"
	"recount/internal/hint"
)

// place is where many runs are made of which few are kept. Those on containers get folders in a scratch folder, which
// goes in the end; what is kept is moved out of it before.
type place struct {
	on, results, scratch string
}

func openPlace(on, results string) (*place, error) {
	p := &place{on: on, results: results}
	if record.Repeats(on) {
		return p, nil
	}
	err := os.MkdirAll(results, 0o755)
	if err == nil {
		p.scratch, err = os.MkdirTemp(results, record.Scratch)
	}
	if err != nil {
		err = hint.Add(fmt.Errorf("results folder: %w", err), "--results DIR names another place")
	}
	return p, err
}

// make makes a run. In virtual time it leaves nothing on disk.
func (p *place) make(ctx context.Context, plan record.Plan) (*record.Run, error) {
	if plan.On = p.on; record.Repeats(p.on) {
		return harness.Simulate(ctx, plan)
	}
	return harness.Run(ctx, plan, harness.Config{Results: p.scratch})
}

// adopt keeps a run on containers.
func (p *place) adopt(r *record.Run) error { return harness.Keep(r, p.results) }

// close removes the scratch folder, and says so if it cannot.
func (p *place) close(say func(string)) {
	if p.scratch == "" {
		return
	}
	if err := os.RemoveAll(p.scratch); err != nil {
		say(err.Error())
	}
}
