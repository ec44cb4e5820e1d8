//go:build linux

package disk

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMirrorLosesWhatWasNotSynced(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	write("etc/brought", "along")
	m, err := NewMirror(folder, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	step := func(name, text string) {
		write(name, text)
		m.Create("/" + name)
		m.Write("/"+name, []byte(text), 0)
	}
	m.Mkdir("/wal")
	step("wal/kept", "synced")
	m.Sync("/wal/kept")
	write("wal/kept", "synced, not")
	m.Write("/wal/kept", []byte(", not"), 6)
	step("wal/lost", "never synced")
	step("wal/new.tmp", "renamed")
	m.Sync("/wal/new.tmp")
	require.NoError(t, os.Rename(filepath.Join(folder, "wal/new.tmp"), filepath.Join(folder, "wal/new")))
	m.Rename("/wal/new.tmp", "/wal/new")
	require.NoError(t, m.Crash(folder, false))

	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return "none"
		}
		return string(b)
	}
	require.Equal(t, "along", read("etc/brought"))
	require.Equal(t, "synced", read("wal/kept"))
	require.Equal(t, "none", read("wal/lost"))
	require.Equal(t, "renamed", read("wal/new.tmp"), "the folder was not synced after it")
	require.Equal(t, "none", read("wal/new"))

	m.Rename("/wal/new.tmp", "/wal/new")
	m.Sync("/wal")
	require.NoError(t, m.Crash(folder, false))
	require.Equal(t, "renamed", read("wal/new"))
	require.Equal(t, "none", read("wal/new.tmp"))
	m.Write("/wal/kept", []byte("all"), 0)
	m.SyncAll()
	require.NoError(t, m.Crash(folder, false))
	require.Equal(t, "allced", read("wal/kept"))
}
