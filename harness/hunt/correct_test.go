package hunt

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/targets"
)

var (
	runs     = flag.Int("runs", 24, "runs of each hunt in which nothing is to be found")
	huntSeed = flag.Uint64("seed", 1, "the seed of these hunts")
)

// A finding here is a mistake of an election, of a checker, or of what the election is said to promise.
func TestNothingIsFoundInWhatKeepsItsPromises(t *testing.T) {
	for _, target := range targets.All() {
		if target.Node == nil || target.Name == unsynced {
			continue
		}
		t.Run(target.Name, func(t *testing.T) {
			t.Parallel()
			r := hunted(t, Config{
				Target: target.Name, On: record.OnSim, Seed: *huntSeed, Runs: *runs, Jobs: 1, KeepGoing: true,
				Faults: Faults(target.Name, record.OnSim), Sometimes: Workloads(target),
			})
			require.Equal(t, *runs, r.Runs)
			for _, f := range r.Findings {
				t.Errorf("run %d: %s: %s\n%+v", f.Run, f.Property, f.Why, f.Plan)
			}
		})
	}
}
