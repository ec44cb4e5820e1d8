package member

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func open(t *testing.T, dir string) *storage {
	s, err := openStorage(dir)
	require.NoError(t, err)
	t.Cleanup(s.close)
	return s
}

func value(t *testing.T, s *storage, key string) string {
	b, err := s.load(key)
	require.NoError(t, err)
	return string(b)
}

func TestStorageSurvivesTheProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	s := open(t, dir)
	require.Empty(t, value(t, s, "vote"), "nothing is there yet")
	require.NoError(t, s.store("vote", []byte("one")))
	require.NoError(t, s.store("a/b ..", []byte("odd key")))
	require.Equal(t, "one", value(t, s, "vote"))

	s = open(t, dir)
	require.Equal(t, "one", value(t, s, "vote"), "stored and never synced")
	require.Equal(t, "odd key", value(t, s, "a/b .."))
	require.NoError(t, s.sync())
	require.NoError(t, s.store("vote", []byte("two")))
	require.Equal(t, "two", value(t, open(t, dir), "vote"))
}

// The machine died: of what was not synced, the file is there without its contents, or with half of them.
func TestStorageSurvivesTheMachine(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"gone":  os.Remove,
		"empty": func(path string) error { return os.Truncate(path, 0) },
		"half":  func(path string) error { return os.Truncate(path, 6) },
		"zeros": func(path string) error { return os.WriteFile(path, make([]byte, 7), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			require.NoError(t, s.store("vote", []byte("one")))
			require.NoError(t, s.sync())
			require.NoError(t, s.store("vote", []byte("two")))
			require.NoError(t, damage(s.path("vote", stored)))

			s = open(t, dir)
			require.Equal(t, "one", value(t, s, "vote"))
			require.NoError(t, s.sync())
			require.Equal(t, "one", value(t, open(t, dir), "vote"), "a sync does not bring the damage back")
		})
	}
}

func TestStorageRefusesDamageToWhatWasSynced(t *testing.T) {
	s := open(t, t.TempDir())
	require.NoError(t, s.store("vote", []byte("one")))
	require.NoError(t, s.sync())
	require.NoError(t, os.Truncate(s.path("vote", synced), 2))
	_, err := s.load("vote")
	require.ErrorIs(t, err, errTorn)
}

func TestStorageCounts(t *testing.T) {
	dir := t.TempDir()
	for want := uint64(1); want <= 3; want++ {
		n, err := open(t, dir).next("life")
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
}
