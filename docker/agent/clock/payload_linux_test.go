//go:build amd64 || arm64

package clock

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "recount/internal/testseed" // the same cases each time
)

// The payload, in a process of its own and on a clock that the test sets, computes what a line does.
func TestThePayloadComputesWhatTheLineDoes(t *testing.T) {
	p := start(t, "static C")
	patch := patched(t, p.pid())
	const (
		setAt   = answerAt + 64 // in the data: what the fake clock reads
		originB = originAt + 1024
	)
	word := func(at uint64, v int64) {
		require.NoError(t, poke(patch.pid, patch.data+at, binary.LittleEndian.AppendUint64(nil, uint64(v))))
	}
	var failure error
	err := trace(patch.pid, time.Minute, func(deadline time.Time) error {
		tids, err := stopAll(patch.pid, deadline)
		defer func() { detach(tids) }()
		if err != nil {
			return err
		}
		if err := pokeText(tids[0], patch.code+originB, constant(patch.data+setAt)); err != nil {
			return err
		}
		word(realAt, int64(patch.code+originB))
		defer word(realAt, int64(patch.code+originAt))
		rapid.Check(t, func(rt *rapid.T) {
			var deviations [clocks]deviation
			id := rapid.SampledFrom(slices.Concat(walls, steadies)).Draw(rt, "clock")
			base := rapid.Int64Range(0, 1<<61).Draw(rt, "base")
			deviations[id] = deviation{
				Offset: rapid.Int64Range(-1e18, 1e18).Draw(rt, "offset"), Base: base,
				Rate: rapid.Int64Range(-9e8, 4e10).Draw(rt, "rate"), Before: rapid.Int64Range(-9e8, 4e10).Draw(rt, "before"),
			}
			now := max(0, base+rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64Range(-1e15, 1e15)).Draw(rt, "since"))
			change := rapid.Byte().Draw(rt, "change")
			word(setAt, now/1e9)
			word(setAt+8, now%1e9)
			require.NoError(rt, poke(patch.pid, patch.data+bank(change), encodeDeviations(deviations)))
			require.NoError(rt, poke(patch.pid, patch.data+changeAt, []byte{change}))
			r, err := patch.call(tids[0], id)
			if failure = err; err != nil {
				rt.FailNow()
			}
			require.Equal(rt, now+deviations[id].at(now), r.Read)
		})
		return poke(patch.pid, patch.data+bank(0), make([]byte, banks*bankSize))
	})
	require.NoError(t, failure)
	require.NoError(t, err)
	p.requireWall("read", 0, time.Microsecond)
}

func TestTheRealClockCanBeAskedOfTheKernel(t *testing.T) {
	p := start(t, "static C")
	patch := patched(t, p.pid())
	err := trace(patch.pid, within, func(deadline time.Time) error {
		tids, err := stopAll(patch.pid, deadline)
		defer func() { detach(tids) }()
		if err != nil {
			return err
		}
		return pokeText(tids[0], patch.code+originAt, asking)
	})
	require.NoError(t, err)
	turn(t, patch, Skew{Offset: time.Hour})
	p.requireWall("read", time.Hour, time.Microsecond)
}

func BenchmarkInstall(b *testing.B) {
	for _, language := range []string{"Go", "static C", "Java"} {
		b.Run(language, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				p := start(b, language)
				b.StartTimer()
				patched(b, p.pid())
				b.StopTimer()
				p.stop(b)
				b.StartTimer()
			}
		})
	}
}

func BenchmarkTurn(b *testing.B) {
	patch := patched(b, start(b, "Go").pid())
	for i := 0; b.Loop(); i++ {
		turn(b, patch, Skew{Offset: time.Duration(i)})
	}
}

func BenchmarkMeasure(b *testing.B) {
	patch := patched(b, start(b, "Go").pid())
	var out time.Duration
	for b.Loop() {
		s, err := patch.Measure(within)
		require.NoError(b, err)
		_, accuracy := s.Wall.Wrong()
		out += accuracy
	}
	b.ReportMetric(float64(out)/float64(b.N), "ns-accuracy")
}

// BenchmarkReading has programs read their clocks a million times: as they are, and patched.
func BenchmarkReading(b *testing.B) {
	for _, language := range []string{"Go", "static C", "Java"} {
		for _, how := range []string{"own", "patched"} {
			b.Run(language+"/"+how, func(b *testing.B) {
				p := start(b, language)
				if how == "patched" {
					patched(b, p.pid())
				}
				least := math.Inf(1)
				for b.Loop() {
					cost, _, err := p.ask("cost")
					require.NoError(b, err)
					least = min(least, float64(cost)/1000)
				}
				b.ReportMetric(least, "ns-a-reading")
			})
		}
	}
}
