package gobuild

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/internal/child"
	"recount/internal/hint"
)

// says is a program in the place of the go command, which says something and ends with a status.
func says(script string) child.Program {
	return child.Program{Name: "sh", Args: []string{"-c", script}}
}

// Hundreds of modules are fetched before something fails: what failed is what is told, one thing a line.
func TestAnErrorIsWhatFailed(t *testing.T) {
	fetched := strings.Repeat("echo 'go: downloading example.com/m v1.0.0'\n", 300)
	err := Run(t.Context(), says(fetched+"echo example.com/m/pkg; echo '# example.com/m'; echo 'm.go:3:1: undefined: x' >&2; exit 1"), "building m", func(string) {})
	require.EqualError(t, err, "exit status 1\n  # example.com/m\n  m.go:3:1: undefined: x")
	err = Run(t.Context(), says("for i in $(seq 30); do echo m.go:$i: undefined; done; printf 'at the end'; exit 1"), "building m", func(string) {})
	require.Len(t, strings.Split(err.Error(), "\n"), 22)
	require.Contains(t, err.Error(), "\n  … and 11 more lines")
}

func TestALongBuildTellsHowFarItIs(t *testing.T) {
	var told []string
	err := pace{20 * time.Millisecond, 50 * time.Millisecond}.run(t.Context(), says("echo 'go: downloading a v1.0.0'; echo a/b; echo a/c; sleep 0.5"), "building m", func(line string) { told = append(told, line) })
	require.NoError(t, err)
	require.NotEmpty(t, told)
	require.Regexp(t, `^building m: [01]s, 1 module fetched, 2 packages compiled besides those of before, now a/c$`, told[len(told)-1])
}

func TestAPackageThatNeedsC(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.25\n", "main.go": "package main\n\nimport (\n\t_ \"m/c\"\n\t_ \"m/wrong\"\n)\n\nfunc main() {}\n",
		"wrong/wrong.go": "package wrong\n\nvar x = undefined\n",
		"c/c_test.go":    "package c\n", // the go command takes it for a package that it can build, until it comes to it
		"c/c.go":         "package c\n\n// #include <stdio.h>\nimport \"C\"\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	build := child.Program{
		Name: "go", Args: []string{"build", "-v", "-o", filepath.Join(dir, "bin"), "."}, Dir: dir,
		Env: append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off"),
	}
	err := Run(t.Context(), build, "building m", func(string) {})
	require.ErrorContains(t, err, "m/c: build constraints exclude all Go files in "+filepath.Join(dir, "c"))
	require.NotContains(t, err.Error(), "undefined", "it is known before anything is compiled, be it for minutes")
	require.Equal(t, "m/c needs cgo, and Recount builds without: name build tags that leave it out (binary: {package: FOLDER, tags: [TAG]}), or take a dockerfile that builds it, or an image", hint.Of(err))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c", "c.go"), []byte("//go:build plan9\n\npackage c\n"), 0o644))
	err = Run(t.Context(), build, "building m", func(string) {})
	require.ErrorContains(t, err, "build constraints exclude all Go files")
	require.Empty(t, hint.Of(err), "it is for another system")
	require.NoError(t, os.WriteFile(build.Args[3], nil, 0o755))
	err = Run(t.Context(), build, "building m", func(string) {})
	require.ErrorContains(t, err, "build constraints exclude all Go files", "the go command tells it of what was built before")
}

// What is killed cannot remove what it has made.
func TestABuildThatIsKilledLeavesNothing(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("GOTMPDIR", "")
	ctx, cancel := context.WithCancel(t.Context())
	p := says(`trap '' INT; mkdir "${GOTMPDIR:-$TMPDIR}/go-build1"; echo a/b; while :; do sleep 0.1; done`)
	p.Grace = 50 * time.Millisecond
	err := pace{20 * time.Millisecond, 20 * time.Millisecond}.run(ctx, p, "building m", func(line string) {
		if strings.Contains(line, "compiled") {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, left)
}

// Who has a small /tmp may have told the go command once and for all.
func TestABuildLiesWhereTheGoCommandIsTold(t *testing.T) {
	dir := t.TempDir()
	told := filepath.Join(dir, "env")
	require.NoError(t, os.WriteFile(told, []byte("GOTMPDIR="+filepath.Join(dir, "gone")), 0o600))
	t.Setenv("GOTMPDIR", "")
	t.Setenv("GOENV", told)
	err := Run(t.Context(), child.Program{Name: "go", Args: []string{"version"}}, "building m", func(string) {})
	require.EqualError(t, err, "no folder for what is built on the way: stat "+filepath.Join(dir, "gone")+": no such file or directory")
	require.Contains(t, hint.Of(err), "GOTMPDIR")
}
