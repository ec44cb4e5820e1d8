package keyed

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALockIsOfOneKey(t *testing.T) {
	var l Locks[string]
	unlock, err := l.Lock(t.Context(), "a")
	require.NoError(t, err)
	other, err := l.Lock(t.Context(), "b")
	require.NoError(t, err, "another key waits for nobody")
	other()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = l.Lock(gone, "a")
	require.ErrorIs(t, err, context.Canceled)
	unlock()
	require.Empty(t, l.held)
}

func TestOneHoldsALockAtATime(t *testing.T) {
	var l Locks[int]
	var all sync.WaitGroup
	n := 0
	for range 50 {
		all.Go(func() {
			unlock, err := l.Lock(t.Context(), 1)
			require.NoError(t, err)
			n++
			unlock()
		})
	}
	all.Wait()
	require.Equal(t, 50, n)
	require.Empty(t, l.held)
}
