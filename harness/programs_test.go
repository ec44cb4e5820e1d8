package harness

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
