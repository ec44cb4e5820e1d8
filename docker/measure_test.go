package docker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/internal/testlong"
)

// What was asked for and what was measured lie side by side: how near they come is for people to judge, on their machines.
func TestMeasure(t *testing.T) {
	testlong.Only(t)
	e := engine(t)
	var progress []string
	var some []measure // the last of each kind
	all := measures()
	for i, m := range all {
		if i+1 == len(all) || all[i+1].fault != m.fault {
			some = append(some, m)
		}
	}
	require.Len(t, some, 9)
	rows, err := e.measure(t.Context(), memberImage(t, e), some, func(line string) { progress = append(progress, line) })
	require.NoError(t, err)
	require.Len(t, rows, len(some))
	require.Greater(t, len(progress), len(rows))
	for _, r := range rows {
		t.Logf("%-12s %-12s %s %s", r.Fault, r.Asked, r.Measured, r.Why)
		require.NotEmpty(t, r.Measured, "%s %s: %s", r.Fault, r.Asked, r.Why)
	}
}
