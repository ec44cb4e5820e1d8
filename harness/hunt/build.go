package hunt

import (
	"context"
	"maps"
	"slices"

	"recount/harness"
	"recount/harness/record"
)

// build builds what runs in virtual time, with each value of each option that may be drawn: a hunt's time is that of its runs. What takes
// several options at once to be another program is built by the first run that has it. first is a plan of the hunt.
func (h *hunter) build(ctx context.Context, first record.Plan) error {
	if h.On != record.OnVirtual || h.Make != nil {
		return nil
	}
	plans := []record.Plan{first}
	for _, name := range slices.Sorted(maps.Keys(h.Options)) {
		for _, value := range h.Options[name] {
			p := first
			p.Options = maps.Clone(first.Options)
			p.Options[name] = value
			if harness.Check(p) == nil { // else it is not drawn, either
				plans = append(plans, p)
			}
		}
	}
	for _, p := range plans {
		if _, err := harness.Programs(ctx, p, nil); err != nil {
			return err
		}
	}
	return nil
}
