package record

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

// TestARunThatCannotBeReadHasAWayOut damages the files of a run, one after the other.
func TestARunThatCannotBeReadHasAWayOut(t *testing.T) {
	dir := t.TempDir()
	_, err := Read(dir)
	require.Contains(t, hint.Of(err), "a run's folder has a run.json")
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, text := range []string{"", "{", "[]", "null", "{}", `{"run": 5}`} {
		write(RunFile, text)
		_, err := Read(dir)
		require.ErrorContains(t, err, RunFile)
		require.Contains(t, hint.Of(err), "recount check judges a history.jsonl by itself")
	}
	write(RunFile, `{"target": "raft"}`)
	_, err = Read(dir)
	require.EqualError(t, err, "open "+filepath.Join(dir, HistoryFile)+": no such file or directory")
	require.Contains(t, hint.Of(err), "a run's folder has a history.jsonl beside its run.json")
}
