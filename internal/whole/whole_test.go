package whole

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who reads while others write meets one of what was written, never a part or nothing.
func TestAFileIsWholeAtAnyTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sub", "a.json")
	texts := [][]byte{bytes.Repeat([]byte("a"), 1<<20), bytes.Repeat([]byte("b"), 1<<19)}
	require.NoError(t, Write(file, texts[0]))
	var writers sync.WaitGroup
	done := make(chan struct{})
	for _, text := range texts {
		writers.Go(func() {
			for range 50 {
				require.NoError(t, Write(file, text))
			}
		})
	}
	go func() { writers.Wait(); close(done) }()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, bytes.Equal(b, texts[0]) || bytes.Equal(b, texts[1]), "%d bytes", len(b))
	}
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestWhatCannotBeWrittenLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "taken"), 0o755))
	require.EqualError(t, Write(filepath.Join(dir, "taken"), []byte("a")), "write "+filepath.Join(dir, "taken")+": file exists", "not by the name that it has meanwhile")
	require.EqualError(t, Write(filepath.Join(dir, strings.Repeat("a", 300)), nil), "write "+filepath.Join(dir, strings.Repeat("a", 300))+": file name too long")
	broken := errors.New("no form")
	require.ErrorIs(t, WriteForms(dir, map[string]func(io.Writer, int) error{
		"a": func(w io.Writer, _ int) error { _, err := io.WriteString(w, "a"); return err },
		"b": func(io.Writer, int) error { return broken },
	}, 1), broken)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestWhatIsTooLongIsRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, WriteAll(dir, map[string][]byte{"a": make([]byte, 1<<20), "b": make([]byte, 1<<20+1)}))
	text, err := Read(os.DirFS(dir), "a", 1<<20)
	require.NoError(t, err)
	require.Len(t, text, 1<<20)
	_, err = Read(os.DirFS(dir), "b", 1<<20)
	require.EqualError(t, err, "read b: it is longer than 1 MiB")
	require.ErrorAs(t, err, new(*TooLong))
	_, err = ReadAll(strings.NewReader("abc"), 2)
	require.ErrorAs(t, err, new(*TooLong))
}
