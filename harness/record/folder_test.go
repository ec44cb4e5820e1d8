package record

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestIsResults(t *testing.T) {
	dir := t.TempDir()
	results := filepath.Join(dir, "results")
	one, err := NewFolder(results, "etcd", time.Now())
	require.NoError(t, err)
	Latest(results, one)
	many := filepath.Join(dir, "many", Scratch+"1")
	server := filepath.Join(dir, "server", "latest")
	for _, folder := range []string{many, server} {
		require.NoError(t, os.MkdirAll(folder, 0o755))
	}
	require.NoError(t, os.Symlink("server/latest", filepath.Join(dir, "latest")))
	for _, path := range []string{results, filepath.Dir(one), filepath.Join(results, "latest"), filepath.Dir(many), many} {
		require.True(t, IsResults(path), path)
	}
	for _, path := range []string{dir, filepath.Dir(server), server, filepath.Join(dir, "latest"), filepath.Join(dir, "none")} {
		require.False(t, IsResults(path), path)
	}
}

// A process that was killed in the midst of it is in nobody's way, also where all processes have the same number, as in containers.
func TestTheLatestRunMovesOn(t *testing.T) {
	results := t.TempDir()
	require.NoError(t, os.Symlink("1", fmt.Sprintf("%s.%d", filepath.Join(results, "latest"), os.Getpid())))
	for _, run := range []string{"2", "3"} {
		Latest(results, filepath.Join(results, run))
		to, err := os.Readlink(filepath.Join(results, "latest"))
		require.NoError(t, err)
		require.Equal(t, run, to)
	}
	left, err := os.ReadDir(results)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// Latest points to no run that was dropped, and to another as before.
func TestADroppedRunIsNotTheLatest(t *testing.T) {
	results := t.TempDir()
	one, err := NewFolder(results, "raft", time.Now())
	require.NoError(t, err)
	two, err := NewFolder(results, "raft", time.Now())
	require.NoError(t, err)
	Latest(results, two)
	require.NoError(t, Drop(results, one))
	require.NoDirExists(t, one)
	to, err := os.Readlink(filepath.Join(results, "latest"))
	require.NoError(t, err)
	require.Equal(t, two, filepath.Join(results, to))
	require.NoError(t, Drop(results, two))
	_, err = os.Lstat(filepath.Join(results, "latest"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
