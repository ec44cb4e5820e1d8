package harness

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
)

// A future is the run until it begins, and the same each time; of two chances it is not.
func TestAFutureIsTheRunUntilItsMoment(t *testing.T) {
	for name, p := range map[string]record.Plan{
		"sim":     {Target: "raft", On: record.OnSim, Nodes: 5, Time: 10 * time.Second, Seed: 7, Faults: []string{"kill", "loss"}},
		"virtual": {Target: "../examples/server/election.yaml", On: record.OnVirtual, Nodes: 3, Time: 10 * time.Second, Seed: 7, Faults: []string{"kill"}},
	} {
		t.Run(name, func(t *testing.T) {
			const from = 3 * time.Second
			future := func(from time.Duration, chance uint64) []string {
				r, err := inMemory(t.Context(), p, func(r *run) { r.turnAt(from, chance) })
				require.NoError(t, err)
				unkept, err := Future(t.Context(), p, from, chance)
				require.NoError(t, err)
				require.Equal(t, r.Frame().Count, unkept.Frame().Count)
				return lines(r.History)
			}
			r, err := Simulate(t.Context(), p)
			require.NoError(t, err)
			was := lines(r.History)
			one, again, other := future(from, 1), future(from, 1), future(from, 2)
			require.True(t, slices.Equal(one, again))
			require.False(t, slices.Equal(one, other))
			require.False(t, slices.Equal(was, one))
			for i, op := range r.History.Ops {
				if op.Time > from {
					require.Greater(t, i, 50)
					break
				}
				require.Equal(t, was[i], one[i])
				require.Equal(t, was[i], other[i])
			}
			end := r.Frame().Last + time.Second
			require.True(t, slices.Equal(was, future(end, 1)))
		})
	}
}

func lines(h *history.History) (all []string) {
	for i := range h.Ops {
		all = append(all, string(h.Ops[i].AppendJSON(nil)))
	}
	return all
}
