package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
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

// Who ends by itself before it joins has broken what can be judged.
func TestNodesThatEndBeforeTheyJoinAreJudged(t *testing.T) {
	text, err := os.ReadFile("../examples/race/main.go")
	require.NoError(t, err)
	const parsed = "flag.Parse()\n"
	ends := strings.Replace(string(text), parsed, parsed+"if m.id != `n1` { time.AfterFunc(3*time.Second, func() { os.Exit(2) }) }\n", 1)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(ends), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/ends\n\ngo 1.25\n"), 0o644))
	file := raceWith(t, append([]string{"package: .", "package: " + dir}, neverJoins...)...)
	r, err := Run(t.Context(), record.Plan{Target: file, On: record.OnVirtual, Nodes: 3, Time: time.Second}, Config{Results: t.TempDir()})
	require.NoError(t, err)
	i := slices.IndexFunc(r.Verdicts, func(v record.Verdict) bool { return v.Property == "stays-up" })
	require.Equal(t, checkers.Invalid, r.Verdicts[i].Verdict)
}
