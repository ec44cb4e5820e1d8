package harness

import (
	"maps"

	"recount/harness/record"
	"recount/targets"
)

// Chosen are those of a run's options that differ from its target's defaults, where the target is known: what a run says beyond that
// makes it no other run.
func Chosen(target, on string, options map[string]string) map[string]string {
	if len(options) == 0 {
		return nil
	}
	t, err := targets.Find(target)
	if err != nil {
		return options
	}
	chosen := maps.Clone(options)
	for _, o := range t.On(on != record.OnSim, options).Options {
		if value, said := chosen[o.Name]; said && value == o.Default {
			delete(chosen, o.Name)
		}
	}
	return chosen
}
