package overlay_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/virtual/overlay"
	"recount/virtual/process"
	"recount/virtual/wire"
)

// build builds a program of testdata; the standard library is compiled by the first test that calls it.
func build(t testing.TB, program string) string {
	t.Helper()
	path, err := overlay.Build(t.Context(), overlay.Program{Dir: ".", Package: "./testdata/" + program}, func(line string) { t.Log(line) })
	require.NoError(t, err)
	return path
}

// settings are circumstances that must not show: what the controller has in its environment, and how it runs nodes.
var settings = []struct {
	env    string
	prefix []string
}{
	{},
	{env: "GOMAXPROCS=8", prefix: []string{"nice", "-n", "19"}},
	{env: "GODEBUG=asyncpreemptoff=0", prefix: []string{"nice", "-n", "5"}},
	{env: "TZ=Asia/Tokyo"},
}

// TestSameSeedSameEvents runs nodes again and again, under different circumstances, and compares all of their messages
// and scheduler events. RECOUNT_VIRTUAL_RUNS asks for more runs.
func TestSameSeedSameEvents(t *testing.T) {
	runs := 6
	if s := os.Getenv("RECOUNT_VIRTUAL_RUNS"); s != "" {
		_, err := fmt.Sscan(s, &runs)
		require.NoError(t, err)
	}
	path := build(t, "ping")
	for _, policy := range []uint32{wire.FIFO, wire.Random, wire.Priorities} {
		sums := map[string]int{}
		for i := range runs {
			c := newCluster(t)
			circumstances := settings[i%len(settings)]
			if name, value, ok := strings.Cut(circumstances.env, "="); ok {
				t.Setenv(name, value)
			}
			for range 3 {
				c.add(process.Options{Prefix: circumstances.prefix, Path: path, Policy: policy, Preempt: 10 * policy, Seed: 1, SyncTime: time.Millisecond})
			}
			c.run(3 * time.Second)
			for _, n := range c.nodes {
				require.NoError(t, n.err)
				require.True(t, n.up, n.out)
				require.NotEmpty(t, n.stdout())
				n.kill()
			}
			sums[c.sum()]++
		}
		require.Len(t, sums, 1, "policy %d", policy)
	}
}

// The seed puts the heap close below the end of one of the runtime's arenas, and what the runtime has taken before the program
// begins, which is chance, ends now below it and now above. The program's memory begins at one place.
func TestTheHeapBeginsWhereTheSeedSays(t *testing.T) {
	path := build(t, "ping")
	sums := map[string]int{}
	for i := range 24 {
		c := newCluster(t)
		c.add(process.Options{Prefix: settings[i%len(settings)].prefix, Path: path, Seed: 923861735232633110})
		c.run(time.Second)
		require.True(t, c.nodes[0].up, c.nodes[0].out)
		c.nodes[0].kill()
		sums[c.sum()]++
	}
	require.Len(t, sums, 1)
}

// Finalizers and cleanups begin in an order, though how far a collection had come when the first might have begun is chance. Who asks for
// a collection goes on after it, at the same instant.
func TestGarbageIsFoundInOneOrder(t *testing.T) {
	path := build(t, "misc")
	sums, out := map[string]int{}, map[string]int{}
	for i := range 24 {
		c := newCluster(t)
		n := c.add(process.Options{Prefix: settings[i%len(settings)].prefix, Path: path, Args: []string{"garbage"}, Seed: 1})
		c.run(5 * time.Second)
		require.Equal(t, 3, strings.Count(n.stdout(), "true 0s\ntrue "), n.out)
		n.kill()
		sums[c.sum()]++
		out[n.stdout()]++
	}
	require.Len(t, out, 1)
	require.Len(t, sums, 1)
}

// Threads are made when the kernel happens to have none that waits, and how long a goroutine is blocked is real time.
func TestThreadsAndProfilesAreNoChance(t *testing.T) {
	path := build(t, "misc")
	sums := map[string]int{}
	for i := range 12 {
		c := newCluster(t)
		n := c.add(process.Options{Prefix: settings[i%len(settings)].prefix, Path: path, Args: []string{"locked"}, Seed: 1})
		c.run(5 * time.Second)
		require.Equal(t, 5, strings.Count(n.stdout(), "--- mutex:"), n.out)
		n.kill()
		sums[c.sum()]++
	}
	require.Len(t, sums, 1)
}
