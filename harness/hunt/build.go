package hunt

import (
	"context"
	"maps"
	"slices"

	"recount/harness"
	"recount/harness/record"
)

// build builds what runs in virtual time, with each value of each option that may be drawn: a budget is that of runs. Without one each is
// built by the first run that has it, as is what takes several options at once to be another program, or does not build. first is the
// plan of the first run.
func (h *hunter) build(ctx context.Context, first record.Plan) error {
	if h.Budget == 0 || h.On != record.OnVirtual || h.Make != nil {
		return nil
	}
	if _, err := harness.Programs(ctx, first, nil); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(h.Options)) {
		for _, value := range h.Options[name] {
			p := first
			p.Options = maps.Clone(first.Options)
			p.Options[name] = value
			if harness.Check(p) == nil { // else it is not drawn, either
				_, _ = harness.Programs(ctx, p, nil) // the run that draws it tells what is wrong
			}
		}
	}
	return nil
}
