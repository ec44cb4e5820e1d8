package harness

import (
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheLeastLimitOfNestedControlGroups(t *testing.T) {
	root := t.TempDir()
	write := func(dir, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, dir, "memory.max"), []byte(text), 0o644))
	}
	require.Equal(t, int64(math.MaxInt64), bound(root, "/a/b", "memory.max"), "there is none")
	write("a/b", "max\n")
	require.Equal(t, int64(math.MaxInt64), bound(root, "/a/b", "memory.max"))
	write("a", "209715200\n")
	require.EqualValues(t, 209715200, bound(root, "/a/b", "memory.max"))
	write("a/b", "1048576\n")
	require.EqualValues(t, 1048576, bound(root, "/a/b", "memory.max"))
	require.EqualValues(t, 209715200, bound(root, "/../a", "memory.max"), "of a process outside of what it sees")
}

// A limit that a control group has given is not lifted by one that a command would have.
func TestALimitOfMemoryIsOnlyLowered(t *testing.T) {
	was := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(was)
	low := LimitMemory(1 << 40)
	require.EqualValues(t, 1<<40, debug.SetMemoryLimit(-1))
	back := LimitMemory(1 << 41)
	require.EqualValues(t, 1<<40, debug.SetMemoryLimit(-1))
	back()
	require.EqualValues(t, 1<<40, debug.SetMemoryLimit(-1))
	low()
	require.Equal(t, was, debug.SetMemoryLimit(-1))
}
