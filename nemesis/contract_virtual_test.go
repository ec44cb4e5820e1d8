package nemesis_test

import (
	"cmp"
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/nemesis"
	"recount/virtual"
	"recount/virtual/overlay"
)

func TestFaultsInVirtualTimeKeepTheContract(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the standard library; -short leaves that out")
	}
	honour(t, newVirtual(t), func(f *nemesis.Fault) string { return cmp.Or(kindsOnly(f), containedOnly(f)) })
}

// kindsOnly is why a fault cannot be tried where nobody knows what messages mean.
func kindsOnly(f *nemesis.Fault) string {
	if f.Events && !f.Blind {
		return "it takes messages whose kinds are known"
	}
	return ""
}

// containedOnly is why a fault cannot be tried where there is no engine.
func containedOnly(f *nemesis.Fault) string {
	if f.Name == "squeeze-memory" {
		return "it takes containers"
	}
	return ""
}

// virtually is the world of real programs in virtual time.
type virtually struct {
	*virtual.Cluster
	spoken
	t *testing.T
}

func newVirtual(t *testing.T) *virtually {
	path, err := overlay.Build(t.Context(), overlay.Program{Dir: filepath.Join("..", "docker"), Package: "./testdata/member"}, nil)
	require.NoError(t, err)
	c, err := virtual.Open(virtual.Config{Nodes: nodes, Seed: 1, Disks: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(context.Background())) })
	w := &virtually{Cluster: c, t: t}
	w.spoken = spoken{t, c.Addr, func(node string, within time.Duration, line string) (answer string, err error) {
		over := false
		c.Do(node, func() func() {
			a, e := converse(c.Dial, node, within, line)
			return func() { answer, err, over = a, e, true }
		})
		for !over {
			w.let(time.Millisecond)
		}
		return answer, err
	}}
	programs := map[string][]virtual.Program{}
	for _, n := range nodes {
		programs[n] = []virtual.Program{{Path: path, Args: []string{"member", "/data"}, Data: "/data"}}
	}
	require.NoError(t, c.Launch(programs))
	w.let(time.Second)
	for _, n := range nodes {
		require.True(t, w.answers(n))
	}
	return w
}

func (w *virtually) let(d time.Duration) {
	require.NoError(w.t, w.Run(context.Background(), w.Now()+d))
}

func (w *virtually) interrupt() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(w.t, w.Run(ended, w.Now()+time.Hour), context.Canceled)
}

func (w *virtually) patience() (must, mustNot time.Duration) {
	return time.Minute, 20 * time.Millisecond
}

func (w *virtually) state() history.Changes {
	s, err := w.State(context.Background())
	require.NoError(w.t, err)
	return s
}
