package record

import (
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
