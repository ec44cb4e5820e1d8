package harness

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/nemesis"
)

func TestLinesThatAreToComeSometimesAreCounted(t *testing.T) {
	r, err := Simulate(t.Context(), sealed(
		nemesis.Step{At: time.Second, Fault: "own", Nodes: nemesis.Named{"n2"}, With: map[string]string{"name": "cry"}, For: time.Second},
	))
	require.NoError(t, err)
	require.Equal(t, []record.Sometimes{{Pattern: "failed: cried", Times: 2}, {Pattern: "sang"}}, r.Sometimes)
	require.Contains(t, r.Notes, "of 2 lines that are to come sometimes 1 did not: `sang`")
}
