package campaign

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/campaign/store"
	"recount/harness/estimate"
	"recount/harness/record"
	"recount/nemesis"
)

var many = flag.Int("many", 5_000, "results that TestManyResultsAreSummedUp sums up; with 100,000 it demands ten seconds of a processor and 500 MB")

// Results of many shards, put together as the indexes of a cluster do it, are read and summed up in no time. A store with as many
// is made first, in a folder or, with RECOUNT_TEST_STORE, where that says.
func TestManyResultsAreSummedUp(t *testing.T) {
	name := os.Getenv("RECOUNT_TEST_STORE")
	if name == "" {
		name = t.TempDir()
	}
	st, err := store.Open(t.Context(), name)
	require.NoError(t, err)
	defer st.Close()
	const subject = "many"
	old, err := keys(t.Context(), st, packPrefix(subject))
	require.NoError(t, err)
	require.NoError(t, st.DeleteAll(t.Context(), old))
	rnd := rand.New(rand.NewPCG(1, 2))
	began := time.Now()
	some := make([]*Result, 1000)
	for i := range some {
		some[i] = made(t, i, rnd)
	}
	var part []*Result
	for i := range *many {
		r := *some[i%len(some)]
		r.Shard, r.Chain = hash(i), i/links
		part = append(part, &r)
		if len(part) == packed || i == *many-1 {
			require.NoError(t, keepPack(t.Context(), st, subject, part))
			part = nil
		}
	}
	t.Logf("%d results were made in %v", *many, time.Since(began))
	reset(t)
	began, before := time.Now(), processor(t)
	sum, err := Total(t.Context(), st, subject, nil, false)
	require.NoError(t, err)
	took, worked, memory := time.Since(began), processor(t)-before, peak(t)
	t.Logf("summed up in %v, %v of a processor, %d MB at most: %d runs, %d keys", took, worked, memory, sum.Runs, sum.Reach.Keys())
	require.Len(t, sum.Done, *many)
	require.Equal(t, 500**many, sum.Runs)
	require.Equal(t, Aim{Fault: "isolate", At: "leader", Times: 20 * *many, Took: 20 * *many}, sum.Aims[Aim{Fault: "isolate", At: "leader"}])
	if *many >= 100_000 {
		require.Less(t, worked, 10*time.Second)
		require.Less(t, memory, 500)
	}
}

// processor is how much of a processor this process has had.
func processor(t *testing.T) time.Duration {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// reset has the peak of this process's memory begin with what it has now.
func reset(t *testing.T) {
	debug.FreeOSMemory()
	require.NoError(t, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0))
}

// peak is how many MB of memory the process has had at once since.
func peak(t *testing.T) (mb int) {
	text, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, text, _ = bytes.Cut(text, []byte("VmHWM:"))
	_, err = fmt.Fscan(bytes.NewReader(text), &mb)
	require.NoError(t, err)
	return mb >> 10
}

// made is a result like those of real shards.
func made(t *testing.T, i int, rnd *rand.Rand) *Result {
	r := &Result{Runs: 500, Broken: map[string]int{"sticky-leader": 100, "no-ping-pong": 3}}
	for k := range 5 {
		plan := record.Plan{Target: "raft", On: record.OnSim, Nodes: 3, Time: time.Minute, Seed: rnd.Uint64(), Schedule: nemesis.Schedule{
			{At: time.Second, Fault: "isolate", Nodes: []string{"follower"}, For: time.Second}, {At: 9 * time.Second, Fault: "kill", Nodes: []string{"leader"}},
		}}
		text, err := json.Marshal(plan)
		require.NoError(t, err)
		r.Kinds = append(r.Kinds, Kind{Kind: fmt.Sprint("sticky-leader", (i+k)%200), Property: "sticky-leader", Runs: 20, Size: 103, Seed: plan.Seed, Plan: text})
	}
	for _, fault := range nemesis.Drawn() {
		r.Aims = append(r.Aims, Aim{Fault: fault, At: "leader", Times: 20, Took: 20}, Aim{Fault: fault, At: "follower", Times: 20, Took: 19})
	}
	var reach estimate.Reach
	for range 500 {
		key := uint32(rnd.ExpFloat64() * 5000)
		reach.Add(1+rnd.Uint64()>>1, func(yield func(uint32) bool) { yield(key * 2654435761) })
	}
	var err error
	r.Reach, err = reach.MarshalBinary()
	require.NoError(t, err)
	return r
}
