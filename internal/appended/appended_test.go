//go:build linux

package appended

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// all reads until nothing comes.
func all(t *testing.T, f *File, root string) (text string) {
	for {
		b, err := f.Next(root)
		require.NoError(t, err)
		if len(b) == 0 {
			return text
		}
		text += string(b)
	}
}

func TestWhatIsAppendedIsReadOnce(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "data"), 0o755))
	path := filepath.Join(root, "data", "log")
	f := &File{Path: "/data/log"}
	defer f.Close()
	write := func(text string) {
		t.Helper()
		w, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		require.NoError(t, err)
		_, err = w.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	require.Empty(t, all(t, f, root), "it is not there yet")
	write("one\n")
	require.Equal(t, "one\n", all(t, f, root))
	require.Empty(t, all(t, f, root))

	write("two\n")
	require.Equal(t, "two\n", all(t, f, ""), "of a program that has ended, what it has written last is read all the same")
	f.Close()
	write("three\n")
	require.Equal(t, "three\n", all(t, f, root), "who opens it again goes on")

	write("four\n")
	require.NoError(t, os.Rename(path, path+".1"))
	write("five\n")
	require.Equal(t, "four\nfive\n", all(t, f, root), "renamed, and begun again")

	write("cut sh")
	require.Equal(t, "cut sh", all(t, f, root))
	require.NoError(t, os.Remove(path))
	write("five\n")
	require.Equal(t, "\nfive\n", all(t, f, root), "the line that has no end ends there, and what begins as the file before it did is another all the same")

	write("six, which is long enough\n")
	require.Equal(t, "six, which is long enough\n", all(t, f, root))
	require.NoError(t, os.WriteFile(path, []byte("seven\n"), 0o644))
	require.Equal(t, "seven\n", all(t, f, root), "cut short, and written from its beginning")
}

func TestWhatACrashLeavesIsNotReadAgain(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "log")
	f := &File{Path: "/log"}
	defer f.Close()
	require.NoError(t, os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o644))
	require.Equal(t, "one\ntwo\nthree\n", all(t, f, root))
	for _, left := range []string{"one\ntwo\n", "one\n"} { // "two" was not synced
		f.Lost()
		require.NoError(t, os.Rename(path, path+" before"))
		require.NoError(t, os.WriteFile(path, []byte(left), 0o644))
		require.Empty(t, all(t, f, root))
	}
	require.NoError(t, os.WriteFile(path, []byte("one\nfour\n"), 0o644))
	require.Equal(t, "four\n", all(t, f, root))

	require.NoError(t, os.WriteFile(path, []byte("one\nfour\nfi"), 0o644))
	require.Equal(t, "fi", all(t, f, root))
	f.Lost()
	require.NoError(t, os.WriteFile(path, []byte("one\nfour\nsix\n"), 0o644))
	require.Equal(t, "\nsix\n", all(t, f, root), "the line that was lost ends there")

	f.Lost()
	require.NoError(t, os.Remove(path))
	require.Empty(t, all(t, f, root))
	require.NoError(t, os.WriteFile(path, []byte("other\n"), 0o644))
	require.Equal(t, "other\n", all(t, f, root), "a disk that was wiped")
}

// A log is longer than what is remembered of it.
func TestALongFileIsKnownAgain(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "log")
	f := &File{Path: "/log"}
	defer f.Close()
	var lines strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	text := lines.String()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	require.Equal(t, text, all(t, f, root))
	for _, left := range []int{len(text), len(text) - 10_000, len(text) / 2} {
		f.Lost()
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.WriteFile(path, []byte(text[:left]), 0o644))
		require.NotContains(t, all(t, f, root), "line", left)
	}
}

func TestLinksLeadWhereTheProgramSeesThem(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "data"), 0o755))
	require.NoError(t, os.Symlink("/data", filepath.Join(root, "var")))
	require.NoError(t, os.WriteFile(filepath.Join(root, "data", "log"), []byte("here\n"), 0o644))
	require.Equal(t, "here\n", all(t, &File{Path: "/var/log"}, root))
	_, err := (&File{Path: "/data"}).Next(root)
	require.EqualError(t, err, "read /data: it is no regular file")
	require.Empty(t, all(t, &File{Path: "/data/log/below"}, root), "what is a file where a folder is to be is not there")
}
