package linear

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// part returns operations from their notation.
func part(t testing.TB, text string) []porcupine.Operation { return Operations(accesses(t, text)) }

const (
	legalPart   = "1s n1 write 1 1\n2s client read 1 1"
	illegalPart = "1s n1 write 1 1\n2s client read 1 2"
)

// One illegal part convicts the whole, whatever else was not finished when time or memory ran out.
func TestDecideKeepsWhatWasFound(t *testing.T) {
	parts := [][]porcupine.Operation{Operations(hard(t, 12)), part(t, legalPart), part(t, illegalPart), Operations(hard(t, 12)), part(t, illegalPart)}
	little := WithMemory(context.Background(), 1<<20)
	d := decide(little, FenceModel, parts)
	require.Equal(t, Decision{CheckResult: porcupine.Illegal, part: 2}, d)

	d = decide(context.Background(), FenceModel, [][]porcupine.Operation{Operations(hard(t, 40)), part(t, illegalPart)})
	require.Equal(t, Decision{CheckResult: porcupine.Illegal, part: 1}, d)

	d = decide(little, FenceModel, parts[:2])
	require.Equal(t, porcupine.Unknown, d.CheckResult)
	require.Zero(t, d.part)
	require.Equal(t, "the search through 27 operations grew beyond 1 MiB", d.Why)
	d = decide(little, FenceModel, [][]porcupine.Operation{parts[1], parts[0], parts[3]})
	require.Equal(t, 1, d.part)

	// What is too much for all of them side by side may be little enough for one alone.
	d = decide(WithMemory(context.Background(), 512<<20), FenceModel, [][]porcupine.Operation{parts[1], Operations(hard(t, 7)), parts[1]})
	require.Equal(t, Decision{CheckResult: porcupine.Illegal, part: 1}, d)

	gone, cancel := context.WithCancel(context.Background())
	cancel()
	d = decide(gone, FenceModel, parts[:2])
	require.Equal(t, Decision{porcupine.Unknown, 0, "time ran out before the search through 27 operations had ended"}, d)

	require.Equal(t, Decision{CheckResult: porcupine.Ok}, decide(little, FenceModel, nil))
	require.Equal(t, Decision{CheckResult: porcupine.Ok}, decide(little, FenceModel, [][]porcupine.Operation{nil, nil}))
}

// A part that was illegal with little memory ends it: what was too large is not searched with all there is.
func TestDecideEndsWithWhatWasFound(t *testing.T) {
	large := make([]Access, 7000) // each after the one before
	for i := range large {
		large[i].Call, large[i].Return = time.Duration(2*i), time.Duration(2*i+1)
	}
	large[len(large)-1].Kind = Rejected
	ctx := WithMemory(context.Background(), 1<<30)
	d := decide(ctx, FenceModel, [][]porcupine.Operation{Operations(large), part(t, illegalPart)})
	require.Equal(t, Decision{CheckResult: porcupine.Illegal, part: 1}, d)
	d = decide(ctx, FenceModel, [][]porcupine.Operation{Operations(large), part(t, legalPart)})
	require.Equal(t, Decision{CheckResult: porcupine.Illegal, part: 0}, d)
}

// Once time has run out nothing is begun anew, and that is the reason unless there is too little memory in any case.
func TestDecideEndsInTime(t *testing.T) {
	gone, end := context.WithCancel(context.Background())
	end()
	large := [][]porcupine.Operation{Operations(make([]Access, 7000))}
	d := decide(WithMemory(gone, 1<<30), FenceModel, large)
	require.Equal(t, Decision{porcupine.Unknown, 0, "time ran out before the search through 7000 operations had ended"}, d)
	d = decide(WithMemory(gone, 17<<20), FenceModel, large)
	require.Equal(t, Decision{porcupine.Unknown, 0, "7000 operations that depend on each other need 18 MiB to decide, of 17 allowed"}, d)

	ctx, cancel := context.WithCancel(WithMemory(context.Background(), 1<<30))
	m := FenceModel
	m.Step = func(state, input, output any) (bool, any) {
		cancel()
		return FenceModel.Step(state, input, output)
	}
	d = decide(ctx, m, [][]porcupine.Operation{Operations(hard(t, 12))})
	require.Equal(t, Decision{porcupine.Unknown, 0, "time ran out before the search through 27 operations had ended"}, d)
}

// The first of several illegal parts is named, however the searches were distributed.
func TestDecideNamesTheFirst(t *testing.T) {
	tried, illegal := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		first := -1
		var parts [][]porcupine.Operation
		for i := range rapid.IntRange(0, 12).Draw(t, "parts") {
			all := drawing{tokens: 2, values: 9, most: 5, lies: 1}.draw(t)
			parts = append(parts, Operations(all))
			if first < 0 && !porcupine.CheckOperations(FenceModel, parts[i]) {
				first = i
			}
		}
		want := Decision{CheckResult: porcupine.Ok}
		if tried++; first >= 0 {
			illegal++
			want = Decision{CheckResult: porcupine.Illegal, part: first}
		}
		if got := decide(context.Background(), FenceModel, parts); got != want {
			t.Fatalf("%+v instead of %+v", got, want)
		}
	})
	requireIllegal(t, tried, illegal)
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
			d := search(context.Background(), m, ops, bytes, nil)
			require.Equal(t, porcupine.Unknown, d.CheckResult)
			return steps
		}
		steps := count()
		require.Greater(t, int64(steps), bytes/stepCost(len(ops))/2)
		require.Equal(t, steps, count())
	}
}

// Only steps that lead to something new are paid for.
func TestBounded(t *testing.T) {
	const n, paid = 10, 7
	legal := true
	m := porcupine.Model{Step: func(state, input, _ any) (bool, any) { return legal, input }}
	limit := func(ctx context.Context, moot func() bool) (porcupine.Model, *string) {
		return bounded(ctx, m, n, n*opCost+paid*stepCost(n), moot)
	}
	small, why := limit(context.Background(), nil)
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

	small, why = limit(context.Background(), nil)
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
	for want, moot := range map[string]func() bool{
		"":                                    func() bool { return false },
		"another part is known to be illegal": func() bool { return true },
	} {
		small, why = limit(context.Background(), moot)
		n := steps(small, why)
		require.Equal(t, want, *why)
		require.Equal(t, want == "", n == 10_000)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	small, why = limit(gone, nil)
	require.LessOrEqual(t, steps(small, why), 256)
	require.Equal(t, "time ran out before the search through 10 operations had ended", *why)

	m.Equal = func(a, b any) bool { return a.(int)%10 == b.(int)%10 }
	small, _ = limit(context.Background(), nil)
	require.True(t, small.Equal(3, 13), "equal is what the model says")

	partitioned := porcupine.Model{Partition: func(all []porcupine.Operation) [][]porcupine.Operation { return nil }}
	partitioned, _ = bounded(context.Background(), partitioned, n, 1<<20, nil)
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
	now := time.Now()
	late, cancel := context.WithDeadline(context.Background(), now.Add(-time.Hour))
	defer cancel()
	more, end := Extended(late)
	require.NoError(t, more.Err())
	until, _ := more.Deadline()
	require.True(t, until.After(now), "%v is over", until)
	end()
	require.Error(t, more.Err())

	inTime, cancel := context.WithDeadline(context.Background(), now.Add(time.Hour))
	defer cancel()
	more, end = Extended(inTime)
	defer end()
	until, _ = more.Deadline()
	require.True(t, until.After(now.Add(time.Hour)), "%v is no longer than it was", until)
	cancel()
	<-more.Done()
	more, end = Extended(inTime)
	defer end()
	require.Error(t, more.Err(), "it was cancelled before")

	unlimited, cancel := context.WithCancel(context.Background())
	more, end = Extended(unlimited)
	defer end()
	_, limited := more.Deadline()
	require.False(t, limited)
	require.NoError(t, more.Err())
	cancel()
	require.Error(t, more.Err())

	soon, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	more, end = Extended(soon)
	defer end()
	<-soon.Done()
	select {
	case <-more.Done():
		t.Fatal("it ended with the time limit")
	case <-time.After(50 * time.Millisecond):
	}

}

func TestLimits(t *testing.T) {
	ops := Operations(hard(t, 20))
	answer, why := Ask(WithMemory(context.Background(), 1<<20), FenceModel, ops)
	require.Equal(t, porcupine.Unknown, answer)
	require.Equal(t, "the search through 43 operations grew beyond 1 MiB", why)

	need := 43 * (opCost + stepCost(43))
	require.Contains(t, search(context.Background(), FenceModel, ops, need-1, nil).Why, "need 1 MiB to decide")
	require.Contains(t, search(context.Background(), FenceModel, ops, need, nil).Why, "grew beyond 1 MiB")

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
