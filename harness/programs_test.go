package harness

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/internal/hint"
)

// Who ends the program while it builds a server has not found that the server does not build.
func TestABuildThatIsInterruptedHasNotFailed(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	_, err := buildStatic(ctx, t.TempDir(), func(string) {})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, hint.Of(err))
}

// The go command removes the folder that it works in when it is interrupted, and not when it is killed.
func TestABuildThatIsInterruptedLeavesNothing(t *testing.T) {
	tools, temp := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\ntrap 'rm -r $TMPDIR/go-build1; exit 1' INT\nmkdir $TMPDIR/go-build1\nsleep 1000\n"
	require.NoError(t, os.WriteFile(filepath.Join(tools, "go"), []byte(script), 0o755))
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
	t.Setenv("TMPDIR", temp)
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if works, _ := filepath.Glob(filepath.Join(temp, "go-build*")); len(works) > 0 {
				interrupt()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := buildStatic(ctx, t.TempDir(), func(string) {})
	require.ErrorIs(t, err, context.Canceled)
	works, err := filepath.Glob(filepath.Join(temp, "go-build*"))
	require.NoError(t, err)
	require.Empty(t, works)
}

// One program is built once, another is not waited for, and who waits may give up.
func TestBuildsWaitForThoseOfTheSameAlone(t *testing.T) {
	one, other := election.Image{Package: t.TempDir()}, election.Image{Package: t.TempDir()}
	begun, goOn, built := make(chan struct{}), make(chan struct{}), make(chan string, 1)
	go func() {
		path, _ := builtOnce(t.Context(), one, func() (string, error) { close(begun); <-goOn; return "one", nil })
		built <- path
	}()
	<-begun
	path, err := builtOnce(t.Context(), other, func() (string, error) { return "other", nil })
	require.NoError(t, err)
	require.Equal(t, "other", path)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	never := func() (string, error) { t.Error("built twice"); return "", nil }
	_, err = builtOnce(gone, one, never)
	require.ErrorIs(t, err, context.Canceled)
	close(goOn)
	require.Equal(t, "one", <-built)
	path, err = builtOnce(t.Context(), one, never)
	require.NoError(t, err)
	require.Equal(t, "one", path)
}
