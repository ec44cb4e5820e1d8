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
	require.Equal(t, "n2 is not ready yet after 10s: dial n2: connection refused", waitsFor(map[string]error{"n2": refused}, 10020*time.Millisecond))
	require.Equal(t, "the cluster is not ready yet after 20s: dial n2: connection refused; nor 2 others",
		waitsFor(map[string]error{"n1": refused, "n2": refused, "the cluster": refused}, 20*time.Second))
}
