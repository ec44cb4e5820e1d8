package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/hunt"
	"recount/harness/record"
)

func TestRunsThatCameToAStandstillAreTold(t *testing.T) {
	r := huntReport{
		huntFlags: &huntFlags{},
		result: &hunt.Result{
			Progress: hunt.Progress{StoodStill: 2},
			Stuck:    &hunt.Stuck{Run: 7, Plan: record.Plan{Nodes: 3, Seed: 5}, Err: errors.New("n2 lets no time pass")},
		},
		stuck: "results/mine/1",
	}
	var text, out strings.Builder
	r.didNotStart(&text)
	require.Contains(t, text.String(), "2 runs came to a standstill; the first is run 7, with 3 nodes, seed 5")
	require.Contains(t, text.String(), "n2 lets no time pass")
	require.Contains(t, text.String(), "--replay results/mine/1")
	require.NoError(t, r.json(&out))
	require.Contains(t, out.String(), `"stuck":{"runs":2,"number":7,"nodes":3,"seed":5,"why":"n2 lets no time pass","run":"results/mine/1"}`)
}
