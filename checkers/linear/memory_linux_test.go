package linear

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// TestMemoryLimit has a process of its own decide what would take all the memory of any machine.
func TestMemoryLimit(t *testing.T) {
	const limit = 40 << 20
	if os.Getenv("RECOUNT_TEST_MEMORY") != "" {
		d := DecideFence(WithMemory(context.Background(), limit), hard(t, 60))
		require.Equal(t, porcupine.Unknown, d.Answer)
		require.Contains(t, d.Why, "the search for an order of 122 operations grew beyond 40 MiB")
		peak, ok := readFigure("/proc/self/status", "VmHWM:") // its own: what rusage tells begins with that of the process that started it
		require.True(t, ok)
		require.NoError(t, os.WriteFile(os.Getenv("RECOUNT_TEST_MEMORY"), strconv.AppendInt(nil, peak<<10, 10), 0o644))
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run", "^TestMemoryLimit$")
	file := filepath.Join(t.TempDir(), "peak")
	cmd.Env = append(os.Environ(), "RECOUNT_TEST_MEMORY="+file)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	peak, err := strconv.ParseInt(string(text), 10, 64)
	require.NoError(t, err)
	t.Logf("%d MiB at most, %d MiB allowed for deciding", mebi(peak), mebi(limit))
	require.Less(t, peak, int64(limit+128<<20), "the limit, and what a process of Go takes anyhow")
	require.Greater(t, peak, int64(limit/4), "the limit was put to use")
}
