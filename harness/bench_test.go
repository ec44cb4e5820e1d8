package harness

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkMinute simulates a minute of five nodes with all faults and a fenced resource, writes the history to disk and
// has all checkers judge it, on one core and on two. Beside how many such minutes pass in a second, it tells how much of
// the time goes into judging, and how often memory is asked for.
func BenchmarkMinute(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as who makes many runs does: they make much garbage and keep little
	var alone float64
	for cores := 1; cores <= min(2, runtime.NumCPU()); cores++ {
		b.Run(fmt.Sprintf("cores=%d", cores), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			var seed, events, judging atomic.Int64
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			b.ResetTimer()
			var work sync.WaitGroup
			for range cores {
				dir := b.TempDir()
				work.Go(func() {
					for k := seed.Add(1); k <= int64(b.N); k = seed.Add(1) {
						r := benchmarked(b, uint64(k))
						h, err := r.record(context.Background(), dir)
						require.NoError(b, err)
						began := time.Now()
						verdicts(h)
						judging.Add(int64(time.Since(began)))
						events.Add(int64(simulatedOf(r.cluster).Events()))
					}
				})
			}
			work.Wait()
			b.StopTimer()
			runtime.ReadMemStats(&after)
			speed := float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(speed, "minutes/s")
			b.ReportMetric(100*float64(judging.Load())/float64(b.Elapsed())/float64(cores), "%judging")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(events.Load()), "allocs/event")
			b.ReportMetric(0, "ns/op")
			if cores == 1 {
				alone = speed
			} else {
				b.ReportMetric(speed/alone, "×one-core")
			}
		})
	}
}

func benchmarked(b *testing.B, seed uint64) *run {
	s, err := Plan{
		Target: "raft-prevote", On: OnSim, Nodes: 5, Time: time.Minute, Seed: seed, Faults: allFaults(), Workloads: []string{"fence"},
	}.resolve()
	require.NoError(b, err)
	return &run{subject: s, Config: Config{Progress: func(string) {}}}
}

// simulatedOf is what is below the clients of a cluster.
func simulatedOf(c Cluster) *simulated {
	if below, ok := c.(*clients); ok {
		c = below.Cluster
	}
	return c.(*simulated)
}
