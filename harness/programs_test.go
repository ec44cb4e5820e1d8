package harness

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/internal/hint"
)

// Who ends the program while it builds a server has not found that the server does not build.
func TestABuildThatIsInterruptedHasNotFailed(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	_, err := buildStatic(ctx, t.TempDir(), "", func(string) {})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, hint.Of(err))
}

// The go command removes the folder that it works in when it is interrupted, and not when it is killed.
func TestABuildThatIsInterruptedLeavesNothing(t *testing.T) {
	tools, temp := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\n[ $1 = build ] || exit\ntrap 'rm -r $TMPDIR/go-build1; exit 1' INT\nmkdir $TMPDIR/go-build1\nwhile :; do sleep 0.1; done\n" // a trap waits for the command under way
	require.NoError(t, os.WriteFile(filepath.Join(tools, "go"), []byte(script), 0o755))
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
	t.Setenv("TMPDIR", temp)
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if works, _ := filepath.Glob(filepath.Join(temp, "go-build*")); len(works) > 0 {
				interrupt()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := buildStatic(ctx, t.TempDir(), "", func(string) {})
	require.ErrorIs(t, err, context.Canceled)
	works, err := filepath.Glob(filepath.Join(temp, "go-build*"))
	require.NoError(t, err)
	require.Empty(t, works)
}

// One program is built once, another is not waited for, and who waits may give up.
func TestBuildsWaitForThoseOfTheSameAlone(t *testing.T) {
	one, other := election.Image{Package: t.TempDir()}, election.Image{Package: t.TempDir()}
	begun, goOn, built := make(chan struct{}), make(chan struct{}), make(chan string, 1)
	go func() {
		path, _ := builtOnce(t.Context(), one, func() (string, error) { close(begun); <-goOn; return "one", nil })
		built <- path
	}()
	<-begun
	path, err := builtOnce(t.Context(), other, func() (string, error) { return "other", nil })
	require.NoError(t, err)
	require.Equal(t, "other", path)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	never := func() (string, error) { t.Error("built twice"); return "", nil }
	_, err = builtOnce(gone, one, never)
	require.ErrorIs(t, err, context.Canceled)
	close(goOn)
	require.Equal(t, "one", <-built)
	path, err = builtOnce(t.Context(), one, never)
	require.NoError(t, err)
	require.Equal(t, "one", path)
}

// Of a server that does not build is told what is wrong with it, and the way out.
func TestABuildThatFailsSaysWhy(t *testing.T) {
	t.Setenv("GOCACHE", goCache(t))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "cache"))
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module m\n\ngo 1.25\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() { x() }\n"), 0o644))
	_, err := buildStatic(t.Context(), dir, "", func(string) {})
	require.EqualError(t, err, "build "+dir+": exit status 1\n  # m\n  ./main.go:3:15: undefined: x")
	require.Contains(t, hint.Of(err), "CGO_ENABLED=0 go build")
}

// A program may build without cgo only by build tags, and another of its variants is another executable.
func TestAProgramIsBuiltWithItsTags(t *testing.T) {
	t.Setenv("GOCACHE", goCache(t))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "cache"))
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.25\n", "main.go": "package main\n\nfunc main() { println(variant) }\n",
		"one.go": "//go:build one && small\n\npackage main\n\nconst variant = \"one\"\n", "other.go": "//go:build other\n\npackage main\n\nconst variant = \"other\"\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	built := map[string]bool{}
	for tags, want := range map[string]string{"one,small": "one\n", "other": "other\n"} {
		path, err := buildStatic(t.Context(), dir, tags, func(string) {})
		require.NoError(t, err)
		built[path] = true
		said, err := exec.Command(path).CombinedOutput()
		require.NoError(t, err)
		require.Equal(t, want, string(said))
	}
	require.Len(t, built, 2)
	_, err := buildStatic(t.Context(), dir, "", func(string) {})
	require.ErrorContains(t, err, "undefined: variant")
}

// A server that takes parts of itself from its workspace is made of these for containers and for virtual time alike.
func TestAProgramIsBuiltInItsWorkspace(t *testing.T) {
	t.Setenv("GOCACHE", goCache(t))
	t.Setenv("GOWORK", "")
	dir := t.TempDir()
	server := filepath.Join(dir, "server")
	for name, text := range map[string]string{
		"go.work":       "go 1.25\n\nuse (\n\t./server\n\t./part\n)\n",
		"part/go.mod":   "module example.com/part\n\ngo 1.25\n",
		"part/part.go":  "package part\n\nconst Of = \"the workspace\"\n",
		"server/go.mod": "module example.com/server\n\ngo 1.25\n\nrequire example.com/part v1.0.0\n",
		"server/it.go":  "package main\n\nimport \"example.com/part\"\n\nfunc main() { println(part.Of) }\n",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	_, err := virtualProgram(t.Context(), election.Image{Package: server}, func(string) {})
	require.NoError(t, err)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "cache")) // and not before: the library for virtual time takes a minute
	path, err := buildStatic(t.Context(), server, "", func(string) {})
	require.NoError(t, err)
	said, err := exec.Command(path).CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "the workspace\n", string(said))
}

// goCache is the go command's, which it would look for where caches of the test are.
func goCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}
