package harness

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

// Who waits for a node is told for whom and why, long before it is given up.
func TestWhoIsWaitedFor(t *testing.T) {
	refused := errors.New("dial n2: connection refused")
	require.Equal(t, "n2 is not ready yet after 10s of 1m0s: dial n2: connection refused", waitsFor(map[string]error{"n2": refused}, 10020*time.Millisecond, time.Minute))
	require.Equal(t, "n1 is not ready yet after 20s of 1m0s: dial n2: connection refused; nor 1 other",
		waitsFor(map[string]error{"n1": refused, "n2": refused}, 20*time.Second, time.Minute))
	require.Equal(t, "the cluster is not ready yet after 20s of 1m0s: dial n2: connection refused; 2 nodes wait for it",
		waitsFor(map[string]error{"n1": refused, "n2": refused, "the cluster": refused}, 20*time.Second, time.Minute))
}

// What a file says of when nodes are ready has no part in it that its bootstrap command fails.
func TestTheWayOutIsOfWhoIsNotReady(t *testing.T) {
	refused := errors.New("exit status 1")
	require.Contains(t, hint.Of(late("n1", time.Minute, refused, listensOn([]int{7001, 8080}))), "it listens on 7001, 8080; its log may tell why")
	require.Contains(t, hint.Of(late("n1", time.Minute, refused, listensOn(nil))), "it listens on no port of TCP; its log may tell why")
	require.Contains(t, hint.Of(late("n1", time.Minute, refused, "")), "ready, which says what is to be asked")
	require.Contains(t, hint.Of(late("n1", time.Minute, fmt.Errorf("exec cli on n1: %w", failed{}), "it listens on 1; ")), "that command was run in the node and failed")
	require.Contains(t, hint.Of(late(theCluster, time.Minute, refused, "it listens on 1; ")), "bootstrap never succeeded")
}

// failed is how a command ended that a node was asked by.
type failed struct{}

func (failed) Error() string             { return "exit status 1: no socket" }
func (failed) Printed() (string, string) { return "", "no socket" }

// How far a run is goes by its own clock, as all that is told of it; where that is not the wall's, both are named.
func TestHowFarARunIs(t *testing.T) {
	require.Equal(t, "  25.02s 20s of 1m0s for faults have passed", passed(25020*time.Millisecond, 5020*time.Millisecond, time.Minute, 20*time.Second, false))
	require.Equal(t, "  25.02s 20s of 1m0s for faults have passed, in 41s by the wall clock",
		passed(25020*time.Millisecond, 5020*time.Millisecond, time.Minute, 41*time.Second, true))
}
