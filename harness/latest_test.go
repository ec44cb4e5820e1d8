package harness

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// Nodes wait for the cluster, whatever they are called: it is what is told of.
func TestWhoIsNotReady(t *testing.T) {
	why := errors.New("not yet")
	require.Equal(t, "n1", latest(map[string]error{"n2": why, "n1": why}))
	require.Equal(t, theCluster, latest(map[string]error{"zebra": why, theCluster: why, "n1": why}))
}
