//go:build linux

package disk

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
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
		m.Open("/"+name).Write([]byte(text), 0)
	}
	m.Mkdir("/wal")
	step("wal/kept", "synced")
	m.Open("/wal/kept").Sync()
	write("wal/kept", "synced, not")
	m.Open("/wal/kept").Write([]byte(", not"), 6)
	step("wal/lost", "never synced")
	step("wal/new.tmp", "renamed")
	m.Open("/wal/new.tmp").Sync()
	require.NoError(t, os.Rename(filepath.Join(folder, "wal/new.tmp"), filepath.Join(folder, "wal/new")))
	m.Rename("/wal/new.tmp", "/wal/new")
	require.NoError(t, m.Crash(folder, history.DiskState{}))

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
	m.Open("/wal").Sync()
	require.NoError(t, m.Crash(folder, history.DiskState{}))
	require.Equal(t, "renamed", read("wal/new"))
	require.Equal(t, "none", read("wal/new.tmp"))
	m.Open("/wal/kept").Write([]byte("all"), 0)
	m.SyncAll()
	require.NoError(t, m.Crash(folder, history.DiskState{}))
	require.Equal(t, "allced", read("wal/kept"))
}

// What was written through memory and not told is found when it is read again; it is on disk when the next sync is.
func TestAMirrorReadsAgainWhatIsWrittenThroughMemory(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "wal"), 0o755))
	m, err := NewMirror(folder, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	for _, path := range []string{"/wal/mapped", "/wal/told"} {
		m.Create(path)
		m.Open(path).Write([]byte("told"), 0)
	}
	f := m.Open("/wal/mapped")
	f.Map()
	m.Rename("/wal/mapped", "/wal/renamed")
	m.Open("/wal/told").Write([]byte("more"), 4)
	long := make([]byte, 300*pageSize+5) // with a hole, and an end amid a page
	copy(long, "by memory")
	copy(long[len(long)-5:], "there")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "wal/renamed"), long, 0o644))
	require.NoError(t, m.Reread(folder))
	require.Len(t, f.i.data.pages, 2)
	f.Sync()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "wal/renamed"), []byte("by others, who mapped nothing"), 0o644))
	require.NoError(t, m.Reread(folder))
	require.NoError(t, m.Crash(folder, history.DiskState{}))
	left, err := os.ReadFile(filepath.Join(folder, "wal/renamed"))
	require.NoError(t, err)
	require.Equal(t, long, left)
	require.NoFileExists(t, filepath.Join(folder, "wal/told"), "nobody synced it")
	require.NoFileExists(t, filepath.Join(folder, "wal/mapped"))

	f.Map()
	require.NoError(t, os.Remove(filepath.Join(folder, "wal/renamed")))
	require.NoError(t, m.Reread(folder), "who was ended had removed it by then")
	require.NoError(t, m.Put(folder))
	require.FileExists(t, filepath.Join(folder, "wal/renamed"))
}

// A node's disk is as large as the machine's: what it could write is not left out of what a crash leaves.
func TestAMirrorHoldsWhateverItIsTold(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(folder, 0o755))
	m, err := NewMirror(folder, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	m.d.used = 2 * diskSize / pageSize // as if so much had been written
	m.Create("/file")
	f := m.Open("/file")
	f.Write([]byte("begin"), 0)
	f.Truncate(1 << 40) // a hole, which takes no room where it is put back
	f.Write([]byte("end"), 1<<40)
	f.Sync()
	require.NoError(t, m.Crash(folder, history.DiskState{}))
	written, err := os.Open(filepath.Join(folder, "file"))
	require.NoError(t, err)
	defer written.Close()
	for at, text := range map[int64]string{0: "begin", 1 << 40: "end"} {
		b := make([]byte, len(text))
		_, err := written.ReadAt(b, at)
		require.NoError(t, err)
		require.Equal(t, text, string(b))
	}
	st, err := written.Stat()
	require.NoError(t, err)
	require.EqualValues(t, 1<<40+3, st.Size())
}
