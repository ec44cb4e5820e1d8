package harness

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

func TestWhatARunHasChosen(t *testing.T) {
	given := map[string]string{"scale": "1", "forget-vote": "true"}
	require.Equal(t, map[string]string{"forget-vote": "true"}, Chosen("raft", record.OnSim, given))
	require.Len(t, given, 2, "it is the caller's")
	require.Equal(t, given, Chosen("none", record.OnSim, given), "nobody knows its defaults")
	require.Empty(t, Chosen("raft", record.OnSim, nil))
}
