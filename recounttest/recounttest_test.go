package recounttest_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/report"
)

// examples are the tests that the examples of the documentation show.
var examples []func(t *testing.T)

func example(test func(t *testing.T)) { examples = append(examples, test) }

func TestExamples(t *testing.T) {
	examples = nil
	ExampleRun()
	ExampleRun_faults()
	ExampleExpect()
	require.Len(t, examples, 3)
	for _, e := range examples {
		e(t)
	}
}

// A module of somebody else's uses Recount by a replace directive. Its test fails with the evidence, with the command
// that repeats it, and leaves the run where it says.
func TestInAModuleOfOnesOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another module's tests")
	}
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	write("go.sum", string(sum))
	write("go.mod", "module example.com/mine\n\ngo 1.26\n\nrequire recount v0.0.0\n\nreplace recount => "+root+"\n")
	write("mine_test.go", `package mine

import (
	"testing"

	"recount/recounttest"
)

func TestPingPong(t *testing.T) {
	recounttest.Run(t, "raft-prevote", "ping-pong")
	recounttest.Run(t, "raft", "ping-pong", recounttest.Require("no-ping-pong"), recounttest.Seeds(7))
}
`)
	goTest := func(args ...string) string {
		cmd := exec.Command("go", append([]string{"test", "-mod=mod", "-count=1"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		require.Error(t, err, "%s", out)
		return string(out)
	}
	out := goTest(".")
	require.Contains(t, out, "--- FAIL: TestPingPong/raft/ping-pong/sim/seed=7")
	require.NotContains(t, out, "--- FAIL: TestPingPong/raft-prevote")
	require.Contains(t, out, "A promise broke: no-ping-pong")
	const again = "go test example.com/mine -count 1 -run '^TestPingPong$/^raft$/^ping-pong$/^sim$/^seed=7$'"
	require.Contains(t, out, "reproduce with: "+again)
	kept, err := filepath.Glob(filepath.Join(dir, "results", "raft", "*"))
	require.NoError(t, err)
	require.Len(t, kept, 1, "the run that broke, and no other")
	r, err := report.Read(kept[0])
	require.NoError(t, err)
	require.Equal(t, again, r.Repeat)
	require.Contains(t, out, filepath.Join(kept[0], "report.html"))

	artifacts := t.TempDir()
	out = goTest("-artifacts", "-outputdir="+artifacts, "-run", "TestPingPong/^raft$", ".")
	require.Contains(t, out, "_artifacts")
	var pages []string
	err = filepath.WalkDir(artifacts, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "report.html" {
			pages = append(pages, path)
		}
		return err
	})
	require.NoError(t, err)
	require.Len(t, pages, 1, "%s", out)
}
