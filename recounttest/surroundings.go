package recounttest

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"recount/docker"
	"recount/harness/record"
)

// What a test finds around it: how it was started, its executable, a container engine.

// command returns the command that repeats the subtest of a name. The package is that of whoever called Run.
func command() func(name string) string {
	pkg := "."
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if name := f.Function; name != "" && !strings.HasPrefix(name, "recount/recounttest.") {
			pkg = packageOf(name)
			break
		}
		if !more {
			break
		}
	}
	return func(name string) string {
		// A pattern has a part for each level, and a slash in a subtest's own name makes a level.
		parts := strings.Split(name, "/")
		for i, p := range parts {
			parts[i] = "^" + regexp.QuoteMeta(p) + "$"
		}
		return fmt.Sprintf("go test %s -count 1 -run %s", pkg, record.Quote(strings.Join(parts, "/")))
	}
}

// packageOf is the package of a function by its full name, which for an external test is the package it tests:
// "example.com/a/b_test.TestX.func1" gives "example.com/a/b".
func packageOf(function string) string {
	slash := strings.LastIndex(function, "/") + 1
	name, _, _ := strings.Cut(function[slash:], ".")
	return function[:slash] + strings.TrimSuffix(name, "_test")
}

// keepsArtifacts reports whether the test was started with -artifacts.
func keepsArtifacts() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}

// needEngine skips a test where no container engine answers. CI has no excuse.
func needEngine(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("on containers; -short leaves that out")
	}
	e, err := docker.Connect(t.Context())
	switch {
	case err == nil:
		if err := e.Close(); err != nil {
			t.Log(err)
		}
	case os.Getenv("CI") != "":
		fatal(t, err)
	default:
		t.Skipf("recount: %v", err)
	}
}

// scratch is where built puts what it builds.
var scratch string

// discard removes what was built.
func discard() {
	if scratch == "" {
		return
	}
	if err := os.RemoveAll(scratch); err != nil {
		fmt.Fprintf(os.Stderr, "recount: %v\n", err)
	}
}

// built is the test's executable once more, built so that it runs in an empty container.
var built = sync.OnceValues(func() (path string, err error) {
	if scratch, err = os.MkdirTemp("", "recounttest-"); err != nil {
		return "", err
	}
	path = filepath.Join(scratch, "member")
	cmd := exec.Command("go", "test", "-c", "-trimpath", "-vet=off", "-ldflags=-s -w", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build this test for containers: %w: %s", err, out)
	}
	return path, nil
})

// static returns the executable that containers are to run: this one if it can, or else the same built anew. A test's
// working directory is its package's.
func static(t *testing.T) string {
	t.Helper()
	if !insideAware {
		t.Fatal("recount: containers would run this test's executable as if it were a test\n" +
			"hint: func TestMain(m *testing.M) { recounttest.Main(m) }")
	}
	self, err := os.Executable()
	if err != nil {
		fatal(t, err)
	}
	if runtime.GOOS == "linux" && docker.CheckExecutable(self, runtime.GOARCH) == nil {
		return self
	}
	path, err := built()
	if err != nil {
		fatal(t, err)
	}
	return path
}
