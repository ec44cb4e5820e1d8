package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

// BenchmarkMinute simulates a minute of five nodes with all faults and a fenced resource, writes the history to disk and
// has all checkers judge it, on one core and on two. Beside how many such minutes pass in a second, it tells how much of
// the time goes into judging, how often memory is asked for, and how many times as long it took as the bare loop, which
// says on any machine how near to the limit that is.
func BenchmarkMinute(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as who makes many runs does: they make much garbage and keep little
	var alone float64
	for cores := 1; cores <= min(2, runtime.NumCPU()); cores++ {
		b.Run(fmt.Sprintf("cores=%d", cores), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			var seed, events, ops, judging atomic.Int64
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
						ops.Add(int64(len(h.Ops)))
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
				b.ReportMetric(float64(b.Elapsed())/float64(bareLoop(b, events.Load(), ops.Load())), "×bare-loop")
			} else {
				b.ReportMetric(speed/alone, "×one-core")
			}
		})
	}
}

// bareLoop returns how long the least takes that a simulation with a history can be: so many events through a queue, and
// so many short lines to a file.
func bareLoop(b *testing.B, events, ops int64) time.Duration {
	f, err := os.Create(filepath.Join(b.TempDir(), "history.jsonl"))
	require.NoError(b, err)
	defer f.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	queue := make([]int64, 64) // times of events, a heap; five nodes, their links and clients have about so many waiting
	var line []byte
	began := time.Now()
	for i := range events {
		at, now := 0, queue[0]+rng.Int64N(1e6)
		for next := 1; next < len(queue); next = 2*at + 1 {
			if next+1 < len(queue) && queue[next+1] < queue[next] {
				next++
			}
			if now <= queue[next] {
				break
			}
			queue[at], at = queue[next], next
		}
		queue[at] = now
		if i*ops/events == (i+1)*ops/events {
			continue
		}
		line = append(line, `{"index":`...)
		line = strconv.AppendInt(line, i, 10)
		line = append(line, `,"time":`...)
		line = strconv.AppendInt(line, queue[0], 10)
		line = append(line, `,"process":1,"type":"ok","f":"observe","node":"n2","value":{"role":"leader","term":1}}`+"\n"...)
		if len(line) > 1<<16 {
			_, err := f.Write(line)
			require.NoError(b, err)
			line = line[:0]
		}
	}
	return time.Since(began)
}

func benchmarked(b *testing.B, seed uint64) *run {
	s, err := resolve(record.Plan{
		Target: "raft-prevote", On: record.OnSim, Nodes: 5, Time: time.Minute, Seed: seed, Faults: allFaults(), Workloads: []string{"fence"},
	})
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
