package nemesis_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/docker"
	"recount/history"
	"recount/nemesis"
)

func TestFaultsOnContainersKeepTheContract(t *testing.T) {
	if testing.Short() {
		t.Skip("on containers; -short leaves that out")
	}
	w := newContained(t)
	honour(t, w, func(f *nemesis.Fault) string {
		if err := w.Can(history.Changes{Clocks: []history.Clock{{Node: "n1", Offset: 1}}}); f.Clocks && err != nil {
			return err.Error()
		}
		return kindsOnly(f)
	})
}

// contained is the world of containers. In each runs the program of the tests of package docker.
type contained struct {
	*docker.Cluster
	spoken
	t    *testing.T
	ends map[string]int // of processes that nobody had asked for
}

// ended is how often a node's process has ended by itself, as far as the cluster knows.
func (w *contained) ended(node string) int { return w.ends[node] }

func newContained(t *testing.T) *contained {
	e, err := docker.Connect(t.Context())
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("needs a container engine: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { e.Close() })
	path := filepath.Join(t.TempDir(), "member")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "./testdata/member")
	build.Dir, build.Env = filepath.Join("..", "docker"), append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	image, err := e.ExecutableImage(t.Context(), path, nil)
	require.NoError(t, err)
	c, err := e.Open(t.Context(), docker.Config{
		Run: fmt.Sprintf("contract-%d", os.Getpid()), Nodes: nodes, SelfImage: image, Clocks: true, Disks: true,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(context.Background())) })
	what := map[string]docker.Container{}
	for _, n := range nodes {
		what[n] = docker.Container{Image: image, Command: []string{docker.SelfPath, "member", "/data"}, Data: "/data"}
	}
	require.NoError(t, c.Launch(t.Context(), what))
	w := &contained{Cluster: c, t: t, ends: map[string]int{}}
	c.OnExit(func(node string, _ int) { w.ends[node]++ })
	w.spoken = spoken{t, c.Addr, func(node string, within time.Duration, line string) (string, error) {
		return converse(c.Dial, node, within, line)
	}}
	for _, n := range nodes {
		require.Eventually(t, func() bool { return w.answers(n) }, time.Minute, time.Millisecond)
	}
	return w
}

func (w *contained) let(d time.Duration) {
	require.NoError(w.t, w.Run(context.Background(), w.Now()+d))
}

func (w *contained) interrupt() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(w.t, w.Run(ended, w.Now()+time.Hour), context.Canceled)
}

func (w *contained) patience() (must, mustNot time.Duration) {
	return time.Minute, 20 * time.Millisecond
}

func (w *contained) state() history.Changes {
	s, err := w.State(context.Background())
	require.NoError(w.t, err)
	return s
}
