package hunt

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/record"
)

// unbuilt is a hunt of a server that nobody has built before, with a budget. What is built of it goes with the test.
func unbuilt(t *testing.T) Config {
	t.Helper()
	goCache, err := exec.Command("go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	t.Setenv("GOCACHE", strings.TrimSpace(string(goCache)))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	for from, to := range map[string]string{"main.go": "server/main.go", "simple.yaml": "simple.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata", "server", from))
		require.NoError(t, err)
		own := strings.NewReplacer("{package: .}", `{package: './{{param "program"}}'}`, "parameters:\n", "parameters:\n  program: server\n").Replace(string(text))
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, to)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, to), []byte(own), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module server\n\ngo 1.24\n"), 0o600))
	cfg := server("simple.yaml", "none", 1)
	cfg.Target, cfg.Runs, cfg.Budget = filepath.Join(dir, "simple.yaml"), 1, time.Hour
	return cfg
}

// A server that nobody has built before takes nothing of a hunt's budget to be built.
func TestABudgetBeginsWithTheFirstRun(t *testing.T) {
	var built time.Time
	ctx := harness.Building(t.Context(), func(string) { built = time.Now() })
	r, err := Hunt(ctx, unbuilt(t))
	require.NoError(t, err)
	require.Equal(t, 1, r.Runs)
	require.NotZero(t, built, "it had to be built")
	require.True(t, r.Begun.After(built))
}

// What does not build ends a hunt in the run that draws it, which may be none.
func TestWhatDoesNotBuildIsOfTheRunThatDrawsIt(t *testing.T) {
	cfg := unbuilt(t)
	require.NoError(t, os.Mkdir(filepath.Join(filepath.Dir(cfg.Target), "broken"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(cfg.Target), "broken", "main.go"), []byte("package main\n\nfunc main() { x() }\n"), 0o600))
	cfg.Options["program"] = []string{"server", "broken"}
	h, err := newHunter(cfg)
	require.NoError(t, err)
	built := 0
	ctx := harness.Building(t.Context(), func(string) { built++ })
	first := record.Plan{Target: cfg.Target, On: cfg.On, Nodes: 3, Options: map[string]string{"program": "server"}}
	h.Budget = 0
	require.NoError(t, h.build(ctx, first))
	require.Zero(t, built, "nothing is charged for it")
	h.Budget = time.Hour
	require.NoError(t, h.build(ctx, first))
	require.NotZero(t, built)
	first.Options["program"] = "broken"
	require.ErrorContains(t, h.build(ctx, first), "undefined: x")
}
