package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What an earlier life wrote is written again before anything is said of it: that life may have ended before it was on the disk.
func TestWhatWasLoadedIsKeptBeforeItIsTold(t *testing.T) {
	m := &member{file: filepath.Join(t.TempDir(), "ballot")}
	require.NoError(t, os.WriteFile(m.file, []byte(`{"term":3,"vote":"n1"}`), 0o644))
	before, err := os.Stat(m.file)
	require.NoError(t, err)
	require.NoError(t, m.load())
	require.Equal(t, ballot{3, "n1"}, m.ballot)
	m.keep()
	after, err := os.Stat(m.file)
	require.NoError(t, err)
	require.False(t, os.SameFile(before, after))
}
