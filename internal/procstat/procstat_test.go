package procstat

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	const rest = " T 1 7 7 0 -1 4194560 90 0 0 0 12 3 0 0 20 0 5 0 31337 2121728 1"
	for _, name := range []string{"server", "a) R 9 (b", ") )\n"} {
		s, err := parse([]byte("7 (" + name + ")" + rest + "\n"))
		require.NoError(t, err)
		require.Equal(t, Stat{State: 'T', Parent: 1, Used: 150 * time.Millisecond, Threads: 5, Started: "31337"}, s, name)
		require.False(t, s.Ended())
	}
	s, err := parse([]byte("7 (server) S 1 7 7 0 -1 4194564 90 0 0 0 12 3 0 0 20 0 5 0 31337 2121728 1"))
	require.NoError(t, err)
	require.True(t, s.Exiting)
	for _, strange := range []string{"", "7 (server)", "7 (server) Z 1 2", "7 (server) T 1 7 7 0 -1 4194560 90 0 0 0 12 3 0 0 20 0 many 0 31337"} {
		_, err := parse([]byte(strange))
		require.Error(t, err, strange)
	}
}

func TestRead(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	s, err := Of(os.Getpid())
	require.NoError(t, err)
	require.Positive(t, s.Threads)
	require.NotEmpty(t, s.Started)
	_, err = Of(0)
	require.ErrorIs(t, err, os.ErrNotExist)
	path := filepath.Join(t.TempDir(), "stat")
	require.NoError(t, os.WriteFile(path, []byte("hello"), 0o600))
	_, err = Read(path)
	require.ErrorContains(t, err, `strange: "hello"`)
}
