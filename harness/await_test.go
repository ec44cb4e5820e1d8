package harness

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Who waits for a node is told for whom and why, long before it is given up.
func TestWhoIsWaitedFor(t *testing.T) {
	refused := errors.New("dial n2: connection refused")
	require.Equal(t, "n2 is not ready yet after 10s of 1m0s: dial n2: connection refused", waitsFor(map[string]error{"n2": refused}, 10020*time.Millisecond, time.Minute))
	require.Equal(t, "the cluster is not ready yet after 20s of 1m0s: dial n2: connection refused; nor 2 others",
		waitsFor(map[string]error{"n1": refused, "n2": refused, "the cluster": refused}, 20*time.Second, time.Minute))
}

// How far a run is goes by its own clock, as all that is told of it; where that is not the wall's, both are named.
func TestHowFarARunIs(t *testing.T) {
	require.Equal(t, "  25.02s 20s of 1m0s for faults have passed", passed(25020*time.Millisecond, 5020*time.Millisecond, time.Minute, 20*time.Second, false))
	require.Equal(t, "  25.02s 20s of 1m0s for faults have passed, in 41s by the wall clock",
		passed(25020*time.Millisecond, 5020*time.Millisecond, time.Minute, 41*time.Second, true))
}
