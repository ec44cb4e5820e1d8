package hunt

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness"
)

// A server that nobody has built before takes nothing of a hunt's budget to be built.
func TestABudgetBeginsWithTheFirstRun(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"main.go", "simple.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata", "server", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module server\n\ngo 1.24\n"), 0o600))
	var built time.Time
	ctx := harness.Building(t.Context(), func(string) { built = time.Now() })
	cfg := server("simple.yaml", "none", 1)
	cfg.Target, cfg.Runs, cfg.Budget = filepath.Join(dir, "simple.yaml"), 1, time.Hour
	r, err := Hunt(ctx, cfg)
	require.NoError(t, err)
	require.Equal(t, 1, r.Runs)
	require.NotZero(t, built, "it had to be built")
	require.True(t, r.Begun.After(built))
}
