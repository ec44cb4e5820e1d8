package virtual

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a killed run left behind is nobody's: no process holds its lock. What is not a cluster's stays.
func TestClean(t *testing.T) {
	below := filepath.Join(t.TempDir(), "temp[1]") // which is no pattern
	require.NoError(t, os.Mkdir(below, 0o700))
	alive, err := folder(below)
	require.NoError(t, err)
	killed, err := folder(below)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(killed.Name(), "data"), []byte("x"), 0o600))
	require.NoError(t, killed.Close())
	other := filepath.Join(below, "recount-other")
	require.NoError(t, os.Mkdir(other, 0o700))

	dead, err := left(below)
	require.NoError(t, err)
	require.Equal(t, []string{killed.Name()}, dead)
	removed, err := clean(below, false)
	require.NoError(t, err)
	require.Equal(t, []string{killed.Name()}, removed)
	require.NoDirExists(t, killed.Name())
	require.DirExists(t, alive.Name())

	removed, err = clean(below, true)
	require.NoError(t, err)
	require.Equal(t, []string{alive.Name()}, removed)
	require.DirExists(t, other)
}

// Who cleans while a run begins takes nothing away from it.
func TestACleanWhileRunsBegin(t *testing.T) {
	below := t.TempDir()
	over, cleaned := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			_, err := clean(below, false)
			select {
			case <-over:
				cleaned <- err
				return
			default:
			}
		}
	}()
	for range 200 {
		f, err := folder(below)
		require.NoError(t, err)
		require.DirExists(t, f.Name())
		require.NoError(t, os.WriteFile(filepath.Join(f.Name(), "data"), nil, 0o600))
		require.NoError(t, f.Close())
	}
	close(over)
	require.NoError(t, <-cleaned)
}

// A cluster's files are its own while it is open, and gone when it is closed.
func TestACloseLeavesNothingBehind(t *testing.T) {
	below := t.TempDir()
	c, err := Open(Config{Nodes: []string{"n1"}, Seed: 1, Dir: below})
	require.NoError(t, err)
	removed, err := clean(below, false)
	require.NoError(t, err)
	require.Empty(t, removed)
	require.NoError(t, c.Close(t.Context()))
	left, err := os.ReadDir(below)
	require.NoError(t, err)
	require.Empty(t, left)
}
