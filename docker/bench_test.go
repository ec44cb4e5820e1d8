package docker

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/docker/agent"
	"recount/history"
)

// The benchmarks report medians: the engine's times have long tails.

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}

func BenchmarkUpAndDown(b *testing.B) {
	e := engine(b)
	image := memberImage(b, e)
	var ups, downs []time.Duration
	for b.Loop() {
		began := time.Now()
		c, err := e.Open(b.Context(), Config{Run: runID(b), Nodes: []string{"n1", "n2", "n3", "n4", "n5"}, SelfImage: image})
		require.NoError(b, err)
		what := map[string]Container{}
		for _, name := range c.names {
			what[name] = memberContainer(c)
		}
		require.NoError(b, c.Launch(b.Context(), what))
		for _, name := range c.names {
			eventually(b, c, name)
		}
		ups = append(ups, time.Since(began))
		began = time.Now()
		require.NoError(b, c.Close(context.Background()))
		downs = append(downs, time.Since(began))
	}
	b.ReportMetric(median(ups), "ms-up")
	b.ReportMetric(median(downs), "ms-down")
}

func BenchmarkApply(b *testing.B) {
	c := up(b, engine(b), runID(b), 5)
	var cut, heal []history.Link
	for _, x := range []string{"n1", "n2"} {
		for _, y := range []string{"n3", "n4", "n5"} {
			cut = append(cut, link(x, y, true), link(y, x, true))
			heal = append(heal, link(x, y, false), link(y, x, false))
		}
	}
	for _, bench := range []struct {
		name     string
		do, undo history.Changes
	}{
		{"partition", links(cut...), links(heal...)},
		{"heal", links(heal...), links(cut...)},
		{"pause", proc("n1", history.Paused), proc("n1", history.Up)},
		{"resume", proc("n1", history.Up), proc("n1", history.Paused)},
		{"kill", proc("n1", history.Down), proc("n1", history.Up)},
		{"start", proc("n1", history.Up), proc("n1", history.Down)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var took, spreads []time.Duration
			for b.Loop() {
				requireSeen(b, c, bench.undo)
				var e *history.Effect
				began := time.Now()
				c.Apply(bench.do, func(is history.Effect) { e = &is })
				for e == nil {
					require.NoError(b, c.Run(b.Context(), c.Now()+100*time.Microsecond))
				}
				took = append(took, time.Since(began))
				require.NoError(b, e.Err)
				spreads = append(spreads, e.Spread)
			}
			b.ReportMetric(median(took), "ms-seen")
			b.ReportMetric(median(spreads), "ms-spread")
			b.ReportMetric(float64(spreads[len(spreads)-1].Microseconds())/1000, "ms-worst-spread")
		})
	}
}

// BenchmarkDisk measures what a disk that can fail costs a node: a write of a page, a sync after it, and a read of one from
// memory, on such a disk and on a volume of the engine's.
func BenchmarkDisk(b *testing.B) {
	for _, on := range []string{"volume", "disk that can fail"} {
		b.Run(on, func(b *testing.B) {
			c := open(b, engine(b), runID(b), 1, func(c *Config) { c.Disks = on != "volume" })
			launch(b, c)
			took := make([][]time.Duration, 3)
			for b.Loop() {
				words := strings.Fields(tell(b, c, "n1", "disk measure"))
				require.Len(b, words, 3)
				for k, w := range words {
					ns, err := strconv.Atoi(w)
					require.NoError(b, err)
					took[k] = append(took[k], time.Duration(ns))
				}
			}
			for k, what := range []string{"ms-write", "ms-sync", "ms-read"} {
				b.ReportMetric(median(took[k]), what)
			}
		})
	}
}

// BenchmarkPartition measures how long it takes from asking for a 2|3 partition until its last node has it, and how far apart
// the first and the last node were. To see that it took effect takes longer: that is BenchmarkApply.
func BenchmarkPartition(b *testing.B) {
	c := up(b, engine(b), runID(b), 5)
	var took, spreads []time.Duration
	for b.Loop() {
		for _, cut := range []bool{true, false} {
			var order agent.Apply
			for _, x := range []string{"n1", "n2"} {
				for _, y := range []string{"n3", "n4", "n5"} {
					order.Links = append(order.Links, link(x, y, cut), link(y, x, cut))
				}
			}
			began := time.Now()
			answer, err := c.remote.ask(b.Context(), agent.Request{Apply: &order})
			took = append(took, time.Since(began))
			require.NoError(b, err)
			require.Empty(b, answer.Applied.Errors)
			require.Len(b, answer.Applied.Ago, 5)
			first, last := time.Duration(0), time.Hour
			for _, ago := range answer.Applied.Ago {
				first, last = max(first, ago), min(last, ago)
			}
			spreads = append(spreads, first-last)
		}
	}
	b.ReportMetric(median(took), "ms-to-effect")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms-worst")
	b.ReportMetric(median(spreads), "ms-spread")
}

func BenchmarkDial(b *testing.B) {
	c := up(b, engine(b), runID(b), 1)
	var dials, asks []time.Duration
	for b.Loop() {
		began := time.Now()
		conn, err := c.Dial(b.Context(), "n1", 7000)
		require.NoError(b, err)
		dials = append(dials, time.Since(began))
		_, err = conn.Write([]byte("ping\n"))
		require.NoError(b, err)
		_, err = conn.Read(make([]byte, 10))
		require.NoError(b, err)
		asks = append(asks, time.Since(began))
		conn.Close()
	}
	b.ReportMetric(median(dials), "ms-dial")
	b.ReportMetric(median(asks), "ms-dial-and-ask")
}
