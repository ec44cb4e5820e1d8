package docker

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Removing is under way once at most where a container has a place in a network, whoever removes it by whichever connection.
func TestContainersLeaveNetworksOneAfterTheOther(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var now, most, all atomic.Int32
	answer := func(w http.ResponseWriter, _ *http.Request) {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(2 * time.Millisecond)
		now.Add(-1)
		all.Add(1)
		w.WriteHeader(http.StatusNoContent)
	}
	e, _ := askedEngine(t, answer)
	other := &Engine{api: e.api}
	removeAll := func(role string) error {
		now.Store(0)
		most.Store(0)
		all.Store(0)
		return each(make([]struct{}, 10), func(i int, _ struct{}) error {
			return []*Engine{e, other}[i%2].remove(t.Context(), "container", role)
		})
	}
	for _, role := range []string{roleAnchor, roleAgent, roleRelease} {
		require.NoError(t, removeAll(role))
		require.EqualValues(t, 10, all.Load())
		require.EqualValues(t, 1, most.Load(), role)
	}
	require.NoError(t, removeAll(roleNode))
	require.EqualValues(t, 10, all.Load())
	require.Greater(t, most.Load(), int32(1), "nodes are in their anchors' networks")
}

func TestTurnsThatCannotBeHadAreNotWaitedFor(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/dev/null")
	e, _ := askedEngine(t, nil)
	e.turn(t.Context())()
	require.NoError(t, t.Context().Err())
}
