package batch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// count is the numbers below n.
func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func square(_ context.Context, n int) (int, error) { return n * n, nil }

func TestAllJobsAreDone(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		for _, workers := range []int{0, 1, 3, 50} {
			var got []int
			b := Batch[int, int]{Do: square, Jobs: workers, Ordered: ordered}
			for d := range b.Each(t.Context(), count(40)) {
				require.NoError(t, d.Err)
				require.Equal(t, d.Job*d.Job, d.Result)
				require.Equal(t, d.Job, d.Number)
				got = append(got, d.Job)
			}
			if !ordered {
				slices.Sort(got)
			}
			require.Equal(t, slices.Collect(count(40)), got)
		}
	}
}

func TestNothingIsDoneOfNothing(t *testing.T) {
	b := Batch[int, int]{Do: square}
	for range b.Each(t.Context(), count(0)) {
		t.Fatal("there was no job")
	}
}

// Which results a job may depend on is decided by Ahead, not by how many are done at once.
func TestJobsDependOnTheSameResultsWhateverIsDoneAtOnce(t *testing.T) {
	var want []string
	for _, workers := range []int{1, 4, 8} {
		known := 0
		var got []string
		jobs := func(yield func(string) bool) {
			for i := 0; i < 60 && yield(fmt.Sprintf("%d after %d", i, known)); i++ {
			}
		}
		b := Batch[string, string]{Jobs: workers, Ordered: true, Ahead: 8, Do: func(_ context.Context, s string) (string, error) { return s, nil }}
		for d := range b.Each(t.Context(), jobs) {
			known++
			got = append(got, d.Result)
		}
		if want == nil {
			want = got
		}
		require.Equal(t, want, got)
	}
	require.Contains(t, want, "20 after 13")
}

func TestACrashIsTheFailureOfOneJob(t *testing.T) {
	b := Batch[int, int]{Ordered: true, Do: func(_ context.Context, n int) (int, error) {
		if n == 3 {
			panic("three")
		}
		return n, nil
	}}
	failed := 0
	for d := range b.Each(t.Context(), count(6)) {
		var crash *Panic
		if errors.As(d.Err, &crash) {
			failed++
			require.Equal(t, 3, d.Job)
			require.Equal(t, "three", crash.Value)
			require.Contains(t, crash.Error(), "batch_test.go")
			require.Contains(t, crash.Site, "recount/harness/batch.TestACrashIsTheFailureOfOneJob")
		}
	}
	require.Equal(t, 1, failed)
}

func TestToBreakOffCancelsAndWaits(t *testing.T) {
	var running atomic.Int32
	b := Batch[int, int]{Jobs: 4, Do: func(ctx context.Context, n int) (int, error) {
		if n == 0 {
			return 0, nil
		}
		running.Add(1)
		defer running.Add(-1)
		<-ctx.Done()
		return 0, ctx.Err()
	}}
	for range b.Each(t.Context(), count(100)) {
		break
	}
	require.Zero(t, running.Load())
}

func TestWhatHadBegunWhenTheContextEndsIsGiven(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan int, 100)
	b := Batch[int, int]{Jobs: 2, Ahead: 20, Ordered: true, Do: func(ctx context.Context, n int) (int, error) {
		began <- n
		if len(began) == 2 {
			cancel()
		}
		<-ctx.Done()
		return n, ctx.Err()
	}}
	given := 0
	for d := range b.Each(ctx, count(100)) {
		require.ErrorIs(t, d.Err, context.Canceled)
		given++
	}
	require.Equal(t, len(began), given)
	require.Equal(t, 2, given)
}

func TestASpentBudgetBeginsNoMore(t *testing.T) {
	b := Batch[int, int]{Jobs: 1, Budget: time.Nanosecond, Do: square}
	for range b.Each(t.Context(), count(10)) {
		t.Fatal("the budget was spent before the first job")
	}
}

func TestWhatIsLeft(t *testing.T) {
	p := Progress{Done: 1, Planned: 4, Passed: time.Second}
	require.Equal(t, 3*time.Second, p.Estimate(0).Left)
	require.Equal(t, time.Second, p.Estimate(2*time.Second).Left)
	require.Equal(t, 9*time.Second, Progress{Done: 5, Passed: time.Second}.Estimate(10*time.Second).Left)
	require.Zero(t, Progress{Planned: 4}.Estimate(0).Left)
}
