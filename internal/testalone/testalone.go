// Package testalone keeps tests apart that would disturb each other, those of other packages included: what has been left in
// the engine is there for anybody to remove.
package testalone

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Wait waits until no other test that has called it goes on, and has those that call it later wait for the end of this one.
func Wait(t testing.TB) {
	t.Helper()
	f, err := os.Open(os.TempDir()) // that all have, and nobody else locks
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	require.NoError(t, err)
}
