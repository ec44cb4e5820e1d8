package linear

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// One illegal part convicts the whole, whatever else was not finished when time or memory ran out.
func TestAllOf(t *testing.T) {
	legalPart := accesses(t, "1s n1 write 1 1\n2s client read 1 1")
	illegalPart := accesses(t, "1s n1 write 1 1\n2s client read 1 2")
	little := WithMemory(context.Background(), 100<<10)
	large := hard(t, 12)
	require.Equal(t, illegal, allOf(little, [][]Access{large, legalPart, illegalPart, large}).Answer)
	d := allOf(little, [][]Access{legalPart, large, legalPart})
	require.Equal(t, unknown, d.Answer)
	require.Equal(t, "the search for an order of 27 operations grew beyond 1 MiB", d.Why)
	require.Equal(t, "24 operations were under way at once: let fewer clients act at the same time, or give it more memory", d.Remedy)
	require.Equal(t, illegal, allOf(context.Background(), [][]Access{hard(t, 5)}).Answer)

	gone, cancel := context.WithCancel(context.Background())
	cancel()
	d = allOf(gone, [][]Access{hard(t, 40), legalPart})
	require.Equal(t, unknown, d.Answer)
	require.Contains(t, d.Why, "time ran out in the search for an order of 83 operations")
	require.Equal(t, legal, allOf(little, nil).Answer)
	require.Equal(t, legal, allOf(little, [][]Access{nil, nil}).Answer)
}

// What a search may take is counted, not guessed: it ends at the same step each time.
func TestSearchEndsAtTheSameStep(t *testing.T) {
	ops := Operations(hard(t, 12))
	for _, bytes := range []int64{100 << 10, 1 << 20, 5 << 20} {
		count := func() (steps int) {
			m := FenceModel
			step := m.Step
			m.Step = func(state, input, output any) (bool, any) {
				steps++
				return step(state, input, output)
			}
			answer, _ := ask(context.Background(), m, ops, bytes)
			require.Equal(t, porcupine.Unknown, answer)
			return steps
		}
		steps := count()
		require.Greater(t, int64(steps), bytes/stepCost(len(ops))/2)
		require.Equal(t, steps, count())
	}
}

// Nothing of a search goes on once it has ended, whatever it found.
func TestSearchLeavesNothingBehind(t *testing.T) {
	limited, cancel := WithTime(context.Background(), 10*time.Millisecond)
	defer cancel()
	before := runtime.NumGoroutine()
	for name, c := range map[string]struct {
		ctx   context.Context
		all   []Access
		bytes int64
		want  porcupine.CheckResult
	}{
		"memory":   {context.Background(), hard(t, 12), 1 << 20, unknown},
		"time":     {limited, hard(t, 40), 1 << 30, unknown},
		"order":    {context.Background(), accesses(t, "1s n1 write 1 1\n1s n2 write 2 2 unknown\n2s client read 1 1"), 1 << 20, legal},
		"nothing":  {context.Background(), nil, 1 << 20, legal},
		"no order": {context.Background(), accesses(t, "1s n1 write 1 1\n2s client read 1 2"), 1 << 20, illegal},
	} {
		answer, _ := ask(c.ctx, FenceModel, Operations(c.all), c.bytes)
		require.Equal(t, c.want, answer, name)
		require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, time.Minute, time.Millisecond, name) // (one is Eventually's own)
	}
}

// Only steps that lead to something new are paid for.
func TestBounded(t *testing.T) {
	const n, paid = 10, 7
	legal := true
	m := porcupine.Model{Step: func(state, input, _ any) (bool, any) { return legal, input }}
	never := func() bool { return false }
	limit := func(over func() bool) (porcupine.Model, *string) {
		return bounded(m, n, n*opCost+paid*stepCost(n), over)
	}
	small, why := limit(never)
	for i := range paid {
		legal = true
		small.Step(0, i, nil)
		legal = false
		small.Step(0, i, nil) // leads nowhere
		require.False(t, small.Equal(1, 2))
	}
	legal = true
	require.Empty(t, *why)
	small.Step(0, 1, nil)
	require.Equal(t, "the search through 10 operations grew beyond 1 MiB", *why)
	ok, state := small.Step(5, 1, nil)
	require.False(t, ok)
	require.Equal(t, 5, state)

	small, why = limit(never)
	for i := range 100 * paid {
		ok, _ := small.Step(0, i, nil)
		require.True(t, ok)
		require.True(t, small.Equal(i, i), "what is known already is not kept again")
	}
	require.Empty(t, *why)

	steps := func(m porcupine.Model, why *string) (n int) {
		for *why == "" && n < 10_000 {
			m.Step(0, n, nil)
			m.Equal(n, n)
			n++
		}
		return n
	}
	small, why = limit(never)
	require.Equal(t, 10_000, steps(small, why))
	require.Empty(t, *why)
	small, why = limit(func() bool { return true })
	require.LessOrEqual(t, steps(small, why), 256)
	require.Equal(t, "time ran out before the search through 10 operations had ended", *why)

	m.Equal = func(a, b any) bool { return a.(int)%10 == b.(int)%10 }
	small, _ = limit(never)
	require.True(t, small.Equal(3, 13), "equal is what the model says")

	partitioned := porcupine.Model{Partition: func(all []porcupine.Operation) [][]porcupine.Operation { return nil }}
	partitioned, _ = bounded(partitioned, n, 1<<20, never)
	require.Nil(t, partitioned.Partition)
}

func TestAvailable(t *testing.T) {
	require.Positive(t, available())
	file := filepath.Join(t.TempDir(), "figures")
	require.NoError(t, os.WriteFile(file, []byte("\ncache 17\ninactive 4096 kB\nlimit max\n"), 0o600))
	for name, want := range map[string]int64{"inactive": 4096, "cache": 17} {
		n, ok := readFigure(file, name)
		require.True(t, ok)
		require.Equal(t, want, n)
	}
	for _, name := range []string{"limit", "active", ""} {
		_, ok := readFigure(file, name)
		require.False(t, ok, "%q has no number", name)
	}
	_, ok := readFigure(file+"s", "cache")
	require.False(t, ok)
	require.NoError(t, os.WriteFile(file, []byte("123456\n"), 0o600))
	n, ok := readFigure(file, "")
	require.True(t, ok)
	require.Equal(t, int64(123456), n)
}

// A violation found in time is shown although time runs out; an interrupt ends everything.
func TestExtended(t *testing.T) {
	for name, limited := range map[string]func() (context.Context, context.CancelFunc){
		"the processor's time": func() (context.Context, context.CancelFunc) { return WithTime(context.Background(), 0) },
		"the wall's": func() (context.Context, context.CancelFunc) {
			return context.WithDeadline(context.Background(), time.Now().Add(-time.Hour))
		},
	} {
		late, cancel := limited()
		require.Error(t, late.Err(), name)
		more, end := Extended(late)
		require.NoError(t, more.Err(), name)
		end()
		require.Error(t, more.Err(), name)
		cancel()
	}
	inTime, cancel := WithTime(context.Background(), time.Hour)
	more, end := Extended(inTime)
	require.NoError(t, more.Err())
	cancel()
	<-more.Done()
	end()
	more, end = Extended(inTime)
	defer end()
	require.Error(t, more.Err(), "it was cancelled before")
}

// Only time on a processor counts, and that of all searches together.
func TestWithTime(t *testing.T) {
	ctx, cancel := WithTime(WithMemory(context.Background(), 1<<30), 100*time.Millisecond)
	defer cancel()
	time.Sleep(200 * time.Millisecond)
	require.NoError(t, ctx.Err(), "nobody searched")
	d := DecideFence(ctx, hard(t, 40))
	require.Equal(t, unknown, d.Answer)
	require.Contains(t, d.Why, "time ran out")
	require.Contains(t, d.Remedy, "give it more time")
	require.ErrorIs(t, context.Cause(ctx), errLate)
}

func TestLimits(t *testing.T) {
	ops := Operations(hard(t, 20))
	answer, why := Ask(WithMemory(context.Background(), 1<<20), FenceModel, ops)
	require.Equal(t, porcupine.Unknown, answer)
	require.Equal(t, "the search through 43 operations grew beyond 1 MiB", why)

	need := 43 * (opCost + stepCost(43))
	require.Contains(t, second(ask(context.Background(), FenceModel, ops, need-1)), "need 1 MiB to decide")
	require.Contains(t, second(ask(context.Background(), FenceModel, ops, need)), "grew beyond 1 MiB")

	answer, why = Ask(WithMemory(context.Background(), 1<<30), FenceModel, Operations(make([]Access, 100_000)))
	require.Equal(t, porcupine.Unknown, answer)
	require.Equal(t, "100000 operations that depend on each other need 2471 MiB to decide, of 1024 allowed", why)
}

func TestDraw(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.Nil(t, Draw(ctx, FenceModel, Operations(hard(t, 4))), "nobody waits for it any more")
	ctx = context.Background()
	require.Nil(t, Draw(ctx, FenceModel, Operations(make([]Access, drawn+1))))
	require.NotNil(t, Draw(ctx, FenceModel, Operations(make([]Access, drawn))))
	require.Nil(t, Draw(ctx, FenceModel, nil))
	require.Nil(t, Draw(ctx, FenceModel, Operations(hard(t, 20))), "too hard to decide")
	require.NotNil(t, Draw(ctx, FenceModel, Operations(hard(t, 2))))
}

func second(_ porcupine.CheckResult, why string) string { return why }
