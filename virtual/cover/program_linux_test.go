package cover

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const source = `package main

import (
	"fmt"
	"time"
)

type shelf struct{ n int }

func (s *shelf) put(n int) {
	if n > 3 {
		s.n = n
		return
	}
	s.n++
}

func never() { fmt.Println("never") }

func main() {
	s := new(shelf)
	s.put(1)
	fmt.Println("here")
	time.Sleep(time.Hour)
}
`

// built is a program of source that was built with these arguments, and runs: it has come to where it stays.
func built(t *testing.T, args ...string) (path string, pid int) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module shelf\n\ngo 1.25\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644))
	path = filepath.Join(dir, "shelf")
	build := exec.Command("go", append(append([]string{"build", "-trimpath", "-o", path}, args...), ".")...)
	build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	run := exec.Command(path)
	said, err := run.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, run.Start())
	t.Cleanup(func() {
		run.Process.Kill()
		run.Wait()
	})
	_, err = bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	return path, run.Process.Pid
}

func TestWhatAProcessHasRunIsReadInItsMemory(t *testing.T) {
	path, pid := built(t, "-cover", "-covermode=set", "-coverpkg=./...")
	p := NewProfile()
	require.NoError(t, p.Read(path, pid))
	lines := map[string]map[uint32]bool{}
	for b, ran := range p.blocks {
		require.Equal(t, "shelf/main.go", b.File)
		if lines[b.Func] == nil {
			lines[b.Func] = map[uint32]bool{}
		}
		lines[b.Func][b.Line] = ran
	}
	require.Equal(t, map[string]map[uint32]bool{
		"*shelf.put": {10: true, 11: false, 15: true}, "never": {18: false}, "main": {20: true},
	}, lines)
	require.Equal(t, "never", p.Never()[0].Func)
	ran, all := p.Statements()
	require.Equal(t, []int{6, 9}, []int{ran, all})
	again := NewProfile()
	require.NoError(t, again.Read(path, pid), "what the program has is known by now")
	require.Equal(t, p, again)
}

func TestWhatTellsNothingCountsForNothing(t *testing.T) {
	path, pid := built(t)
	p := NewProfile()
	require.NoError(t, p.Read(path, pid), "it was built without -cover")
	require.Empty(t, p.blocks)
	covered, _ := built(t, "-cover")
	require.NoError(t, p.Read(covered, 1<<22+1), "there is no such process")
	require.ErrorContains(t, p.Read(filepath.Join(t.TempDir(), "none"), pid), "no such file")
}

// What is of another form than of the releases that are known is an error, and no panic.
func TestMetaDataThatMakesNoSense(t *testing.T) {
	path, pid := built(t, "-cover")
	require.NoError(t, NewProfile().Read(path, pid))
	g, err := open(path)
	require.NoError(t, err)
	for n := range 200 {
		meta := make([]byte, n)
		for i := range meta {
			meta[i] = byte(i * n)
		}
		require.NotPanics(t, func() { _ = g.decode(meta, 1, map[where]Block{}) })
	}
	require.ErrorIs(t, g.decode(make([]byte, 10), 1, nil), errMeta)
}
