package overlay

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/internal/whole"
)

func TestWhatWasUsedLongestAgoGoesFirstAndNothingThatIsInUse(t *testing.T) {
	cache := t.TempDir()
	dir := func(name string) string { return filepath.Join(cache, name) }
	began := time.Now()
	for i, name := range []string{"bin/oldest", "sources/old", "bin/held", "sources/young", "bin/youngest"} {
		require.NoError(t, whole.Write(filepath.Join(dir(name), "program"), make([]byte, 1000)))
		at := began.Add(time.Duration(i-10) * time.Hour)
		if name == "bin/youngest" {
			require.NoError(t, whole.Write(filepath.Join(dir(name), usedName), nil))
			require.NoError(t, os.Chtimes(filepath.Join(dir(name), usedName), at, at))
		}
		require.NoError(t, os.Chtimes(dir(name), at, at))
	}
	left := func() (names []string) {
		for _, name := range []string{"bin/oldest", "sources/old", "bin/held", "sources/young", "bin/youngest"} {
			if _, err := os.Stat(dir(name)); err == nil {
				names = append(names, name)
			}
		}
		return names
	}
	require.NoError(t, prune(cache, 1<<30))
	require.Len(t, left(), 5, "there is room")

	require.NoError(t, hold(dir("bin/oldest"), true))
	before := measured(dir("bin/oldest"))
	require.False(t, before.used.Before(began.Add(-time.Minute)), "it is used now")
	size := int64(0)
	for _, name := range left() {
		size += measured(dir(name)).size
	}
	require.NoError(t, prune(cache, size-1))
	require.Equal(t, []string{"bin/oldest", "bin/held", "sources/young", "bin/youngest"}, left())
	require.NoError(t, prune(cache, 0))
	require.Equal(t, []string{"bin/oldest"}, left(), "it is in use")

	held.files[dir("bin/oldest")].Close() // as when the process ends
	delete(held.files, dir("bin/oldest"))
	require.NoError(t, prune(cache, 0))
	require.Empty(t, left())
	require.ErrorIs(t, hold(dir("sources/old"), false), os.ErrNotExist)
	require.NoError(t, hold(dir("bin/oldest"), true), "it is made again")
}
