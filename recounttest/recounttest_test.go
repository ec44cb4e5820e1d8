package recounttest_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
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

// module is one of somebody else's, which uses Recount by a replace directive.
type module struct {
	t         *testing.T
	root, dir string // of Recount, and its own
}

func newModule(t *testing.T) *module {
	t.Helper()
	if testing.Short() {
		t.Skip("builds another module's tests")
	}
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	m := &module{t, root, t.TempDir()}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	m.write("go.sum", string(sum))
	m.write("go.mod", "module example.com/mine\n\ngo 1.26\n\nrequire recount v0.0.0\n\nreplace recount => "+root+"\n")
	return m
}

func (m *module) write(name, text string) {
	path := filepath.Join(m.dir, name)
	require.NoError(m.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(m.t, os.WriteFile(path, []byte(text), 0o644))
}

func (m *module) run(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (m *module) fails(args ...string) string {
	m.t.Helper()
	out, err := m.run(args...)
	require.Error(m.t, err, "%s", out)
	return out
}

// A test in it fails with the evidence, with the command that repeats it, and leaves the run where it says.
func TestInAModuleOfOnesOwn(t *testing.T) {
	m := newModule(t)
	m.write("mine_test.go", `package mine

import (
	"testing"

	"recount/recounttest"
	_ "recount/targets/builtin"
)

func TestPingPong(t *testing.T) {
	recounttest.Run(t, "raft-prevote", "ping-pong")
	recounttest.Run(t, "raft", "ping-pong", recounttest.Require("no-ping-pong"), recounttest.Seeds(7))
}
`)
	out := m.fails("test", "-count=1", ".")
	require.Contains(t, out, "--- FAIL: TestPingPong/raft/ping-pong/sim/seed=7")
	require.NotContains(t, out, "--- FAIL: TestPingPong/raft-prevote")
	require.Contains(t, out, "A promise broke: no-ping-pong")
	const again = "go test example.com/mine -count 1 -run '^TestPingPong$/^raft$/^ping-pong$/^sim$/^seed=7$'"
	require.Contains(t, out, "reproduce with: "+again)
	kept, err := filepath.Glob(filepath.Join(m.dir, "results", "raft", "*"))
	require.NoError(t, err)
	require.Len(t, kept, 1, "the run that broke, and no other")
	r, err := record.Read(kept[0])
	require.NoError(t, err)
	require.Equal(t, again, r.Repeat)
	require.Contains(t, out, filepath.Join(kept[0], "report.html"))

	artifacts := t.TempDir()
	out = m.fails("test", "-count=1", "-artifacts", "-outputdir="+artifacts, "-run", "TestPingPong/^raft$", ".")
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
