package harness

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/batch"
	"recount/harness/record"
	"recount/history"
)

// BenchmarkMinute simulates a minute of five nodes with all faults and a fenced resource, writes the history to disk and
// has all checkers judge it while it goes on, on one core and on two; and does the same without the history, as hunts do.
// Beside how many such minutes pass in a second, it tells how often memory is asked for, and how many times as much of the
// processor it took as the bare loop, which says on any machine how near to the limit that is.
func BenchmarkMinute(b *testing.B) {
	batch.SpareCollections() // as who makes many runs does
	for _, kept := range []bool{true, false} {
		name, alone := map[bool]string{true: "history", false: "hunt"}[kept], 0.0
		for cores := 1; cores <= min(2, runtime.NumCPU()); cores++ {
			b.Run(fmt.Sprintf("%s/cores=%d", name, cores), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
				var seed, events, mallocs atomic.Int64
				var spent, bare time.Duration
				b.ResetTimer()
				var work sync.WaitGroup
				for range cores {
					dir := b.TempDir()
					work.Go(func() {
						for k := seed.Add(1); k <= int64(b.N); k = seed.Add(1) {
							before, malloced := processor(b), allocations()
							r := benchmarked(b, uint64(k))
							if kept {
								require.NoError(b, r.record(context.Background(), dir))
							} else {
								r.listen(nil, 0)
								require.NoError(b, r.carryOut(context.Background(), ""))
							}
							require.NoError(b, r.judged(context.Background(), r.outline()))
							events.Add(int64(simulatedOf(r.cluster).Events()))
							if cores == 1 { // the two by turns: whatever else the machine does then is the same for both
								between := processor(b)
								mallocs.Add(int64(allocations() - malloced))
								b.StopTimer()
								bareLoop(b, int64(simulatedOf(r.cluster).Events()), int64(r.recorder.Len()))
								spent, bare = spent+between-before, bare+processor(b)-between
								b.StartTimer()
							}
						}
					})
				}
				work.Wait()
				b.StopTimer()
				speed := float64(b.N) / b.Elapsed().Seconds()
				b.ReportMetric(speed, "minutes/s")
				b.ReportMetric(0, "ns/op")
				if cores == 1 {
					alone = speed
					b.ReportMetric(float64(mallocs.Load())/float64(events.Load()), "allocs/event")
					b.ReportMetric(float64(spent)/float64(bare), "×bare-loop")
				} else {
					b.ReportMetric(speed/alone, "×one-core")
				}
			})
		}
	}
}

// allocations is how often memory was asked for.
func allocations() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// processor is how much of the processor this process has had, so that others on the machine do not count.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bareLoop does the least that a simulation with a history can be: so many events through a queue, and
// so many short lines to a file.
func bareLoop(b *testing.B, events, ops int64) {
	f, err := os.Create(filepath.Join(b.TempDir(), "history.jsonl"))
	require.NoError(b, err)
	defer f.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	queue := make([]int64, 64) // times of events, a heap; five nodes, their links and clients have about so many waiting
	var line []byte
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
}

func benchmarked(b *testing.B, seed uint64) *run {
	s, err := resolve(record.Plan{
		Target: "raft-prevote", On: record.OnSim, Nodes: 5, Time: time.Minute, Seed: seed, Faults: allFaults("raft-prevote"), Workloads: []string{"fence"},
	})
	require.NoError(b, err)
	return &run{subject: s, Config: Config{Progress: func(string) {}}, wants: wants{unkept: &history.Frame{}}}
}

// simulatedOf is what is below the clients of a cluster.
func simulatedOf(c Cluster) *simulated {
	for {
		switch above := c.(type) {
		case *clients:
			c = above.Cluster
		case *handOvers:
			c = above.Cluster
		default:
			return c.(*simulated)
		}
	}
}

// BenchmarkVirtual has three and five real servers live a minute without a fault, from their start to the report, with nobody but
// observers, and with writes: in etcd, of clients' about twenty a second, and with the others, which keep nothing for clients, leaders'
// to a resource. It tells how much of the processor a minute takes, theirs and this one's together, how many times as long the minute is,
// the servers' share of that, and how many writes a second there were. Runs of one seed are alike: -benchtime 1x is enough.
func BenchmarkVirtual(b *testing.B) {
	for _, s := range []struct{ target, version, writes string }{
		{"etcd", "3.6.16", "register"}, {"nats", "2.12.15", "record"}, {"hashicorp-raft", "1.7.3", "record"}, {"dragonboat", "", "record"},
		{"seaweedfs-raft", "1.2.0", "record"},
	} {
		for _, nodes := range []int{3, 5} {
			for _, work := range []string{"", s.writes} {
				name := fmt.Sprintf("%s/nodes=%d/%s", s.target, nodes, cmp.Or(work, "idle"))
				p := record.Plan{Target: s.target, On: record.OnVirtual, Nodes: nodes, Time: time.Minute, Seed: 1}
				if s.version != "" {
					p.Options = map[string]string{"version": s.version}
				}
				if work != "" {
					p.Workloads = []string{work}
				}
				b.Run(name, func(b *testing.B) { liveVirtually(b, p) })
			}
		}
	}
}

// liveVirtually makes runs of a plan in virtual time, and measures them.
func liveVirtually(b *testing.B, p record.Plan) {
	_, err := Programs(b.Context(), p, func(string) {})
	require.NoError(b, err)
	var lived, own, servers time.Duration
	writes := 0
	for b.Loop() {
		before, beforeTheirs := processor(b), children(b)
		r, err := Run(b.Context(), p, Config{Results: b.TempDir(), Progress: func(string) {}})
		require.NoError(b, err)
		own, servers = own+processor(b)-before, servers+children(b)-beforeTheirs
		lived += r.Frame().Last
		for _, op := range r.History.Ops {
			if op.Type == history.Invoke && (op.F == history.Put || op.F == history.Write) {
				writes++
			}
		}
	}
	b.ReportMetric((own+servers).Seconds()/lived.Minutes(), "cpu-s/minute")
	b.ReportMetric(float64(lived)/float64(own+servers), "×real-time")
	b.ReportMetric(float64(servers)/float64(own+servers), "servers'-share")
	b.ReportMetric(float64(writes)/lived.Seconds(), "writes/s")
	b.ReportMetric(0, "ns/op")
}

// children is how much of the processor the processes have had that this one has started and that have ended.
func children(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
