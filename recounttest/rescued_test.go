package recounttest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/internal/hint"
)

// What a run that failed has recorded outlives the test, and its error says where it lies.
func TestWhatARunThatFailedHasLeftIsKept(t *testing.T) {
	folder, results := t.TempDir(), t.TempDir()
	dir := filepath.Join(folder, "mine", "20261127-120000.000")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, record.HistoryFile), []byte("{}"), 0o644))
	cause := hint.Add(errors.New("n1 is not ready"), "see its log")
	failed := fmt.Errorf("%w (what was recorded lies in %s)", cause, dir)
	c := &config{results: results}
	require.Same(t, failed, c.rescued(t.Context(), failed, folder, "mine"), "nothing was left")

	record.Latest(folder, dir)
	err := c.rescued(t.Context(), failed, folder, "mine")
	require.ErrorIs(t, err, cause)
	require.Equal(t, "see its log", hint.Of(err))
	require.NotContains(t, err.Error(), folder)
	kept, e := filepath.Glob(filepath.Join(results, "mine", "*", record.HistoryFile))
	require.NoError(t, e)
	require.Len(t, kept, 1)
	require.Equal(t, fmt.Sprintf("n1 is not ready (what was recorded lies in %s)", filepath.Dir(kept[0])), err.Error())
}
