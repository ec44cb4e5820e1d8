package harness

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/internal/hint"
)

// Who was interrupted waits for no other run: what is known of one that did not start is kept, without its logs.
func TestAnUnstartedRunIsNotMadeAgainForWhoWasInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	p := record.Plan{Target: "raft", On: record.OnSim, Nodes: 3, Faults: []string{"isolate"}, Seed: 7}
	failed := DidNotStart(unstarted(errors.New("n2 is not ready")))
	results := t.TempDir()
	dir, err := KeepUnstarted(ctx, p, failed, results, func(dir string) string { return "again " + dir })
	require.NoError(t, err)
	kept, err := record.Outline(dir)
	require.NoError(t, err)
	require.Equal(t, []any{"again " + dir, record.StatusFailed, uint64(7)}, []any{kept.Repeat, kept.Status, kept.Seed})
	require.Equal(t, "n2 is not ready", kept.Notes[len(kept.Notes)-1])
	require.NoFileExists(t, filepath.Join(dir, record.HistoryFile))
	folders, err := filepath.Glob(filepath.Join(results, "raft", "*"))
	require.NoError(t, err)
	require.Equal(t, []string{dir}, folders)

	whole := filepath.Join(results, "whole")
	require.ErrorIs(t, KeepUnstartedAs(ctx, p, failed, whole, ""), context.Canceled)
	require.NoDirExists(t, whole, "whoever goes on keeps it")
}

// Nodes that never join the one that leads are no cluster: of two that lead none could be seen there, and no promise is kept by that.
func TestNodesThatNeverJoinAreNotJudged(t *testing.T) {
	_, err := Run(t.Context(), record.Plan{Target: raceWith(t, neverJoins...), On: record.OnVirtual, Nodes: 3, Time: time.Second}, Config{Results: t.TempDir()})
	require.ErrorContains(t, err, "n2, n3 named no leader within")
	require.ErrorContains(t, err, "n1 leads in term 1, n2→nobody, n3→nobody")
	require.Contains(t, hint.Of(err), "in-turn: true")
	require.NotNil(t, DidNotStart(err))
}
