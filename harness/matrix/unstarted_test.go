package matrix

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/batch"
	"recount/harness/record"
)

// A run that does not start ends no matrix, and is told of; a pair of which none does has no more.
func TestRunsThatDoNotStart(t *testing.T) {
	columns, err := ParseColumns([]string{"cut-link"}, []string{"none"})
	require.NoError(t, err)
	measured := func(nodes ...int) *Table {
		rows, err := ParseRows([]string{"../testdata/reluctant/election.yaml"}, record.OnVirtual)
		require.NoError(t, err)
		p := Plan{On: record.OnVirtual, Rows: rows, Columns: columns, Seeds: 8, Nodes: nodes, Time: 5 * time.Second, Jobs: 4}
		require.NoError(t, p.Check())
		table, err := Measure(t.Context(), p, func(batch.Progress) {})
		require.NoError(t, err)
		return table
	}
	some := measured(3, 4)
	require.Equal(t, 4, some.Runs)
	require.Equal(t, 4, some.Unstarted.Runs)
	require.Empty(t, some.Pairs[0].Barred)
	require.Equal(t, record.StatusUnknown, some.Status())
	require.Contains(t, some.sentence(), "4 runs did not start, the first by recount run --target")

	none := measured(4)
	require.Zero(t, none.Runs)
	require.Equal(t, maxUnstarted, none.Unstarted.Runs, "however many are made at once")
	require.Contains(t, none.Pairs[0].Barred, "only odd numbers of nodes are supported")
	require.Equal(t, record.StatusUnknown, none.Status())
}
