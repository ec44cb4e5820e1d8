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

// sums counts the events that runs of a program by itself come to, under different circumstances, once look has looked at each.
func sums(t *testing.T, runs int, o process.Options, lasts time.Duration, look func(n *node)) map[string]int {
	all := map[string]int{}
	for i := range runs {
		c := newCluster(t)
		o.Prefix = settings[i%len(settings)].prefix
		n := c.add(o)
		c.run(lasts)
		look(n)
		n.kill()
		all[c.sum()]++
	}
	return all
}

// The seed puts the heap close below the end of one of the runtime's arenas, and what the runtime has taken before the program
// begins, which is chance, ends now below it and now above. The program's memory begins at one place.
func TestTheHeapBeginsWhereTheSeedSays(t *testing.T) {
	o := process.Options{Path: build(t, "ping"), Seed: 923861735232633110}
	require.Len(t, sums(t, 24, o, time.Second, func(n *node) { require.True(t, n.up, n.out) }), 1)
}

// Finalizers and cleanups begin in an order, though how far a collection had come when the first might have begun is chance. Who asks for
// a collection goes on after it, at the same instant.
func TestGarbageIsFoundInOneOrder(t *testing.T) {
	o := process.Options{Path: build(t, "misc"), Args: []string{"garbage"}, Seed: 1}
	out := map[string]int{}
	all := sums(t, 24, o, 5*time.Second, func(n *node) {
		require.Equal(t, 3, strings.Count(n.stdout(), "true 0s\ntrue "), n.out)
		out[n.stdout()]++
	})
	require.Len(t, out, 1)
	require.Len(t, all, 1)
}

// Threads are made when the kernel happens to have none that waits, and how long a goroutine is blocked is real time.
func TestThreadsAndProfilesAreNoChance(t *testing.T) {
	o := process.Options{Path: build(t, "misc"), Args: []string{"locked"}, Seed: 1}
	require.Len(t, sums(t, 12, o, 5*time.Second, func(n *node) { require.Equal(t, 5, strings.Count(n.stdout(), "--- mutex:"), n.out) }), 1)
}
