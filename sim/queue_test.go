package sim

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "recount/internal/testseed" // the same cases each time
)

func TestQueueGivesEventsByTimeThenByOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type added struct {
			at time.Duration
			n  int
		}
		q := queue{lanes: []lane{{delay: 5}, {delay: 9}}}
		var want []added
		var now time.Duration
		n, pops := 0, rapid.IntRange(1, 9).Draw(t, "pops")
		for range rapid.IntRange(0, 600).Draw(t, "steps") {
			if len(want) > 0 && rapid.IntRange(0, 9).Draw(t, "pop") < pops {
				next, in := q.first()
				require.GreaterOrEqual(t, next.at, now, "nothing comes before what has come")
				e := *next
				q.pop(in)
				now = e.at
				slices.SortStableFunc(want, func(a, b added) int { return cmp.Compare(a.at, b.at) })
				require.Equal(t, want[0].at, e.at)
				require.Equal(t, int32(want[0].n), q.slab[e.slot].node)
				q.release(e.slot)
				want = want[1:]
				continue
			}
			if delay := time.Duration(rapid.IntRange(4, 9).Draw(t, "delay")); rapid.Bool().Draw(t, "after") {
				at := now + delay + time.Duration(rapid.SampledFrom([]int{0, 0, 0, -1, 1}).Draw(t, "drift"))
				q.addAfter(delay, at).node = int32(n)
				want = append(want, added{at, n})
				n++
				continue
			}
			at := now + time.Duration(rapid.IntRange(0, 20).Draw(t, "at"))
			if rapid.IntRange(0, 9).Draw(t, "far") == 0 {
				at += 100
			}
			q.add(at).node = int32(n)
			want = append(want, added{at, n})
			n++
		}
		require.Len(t, slices.Collect(q.entries()), len(want))
		require.Len(t, q.slab, len(want)+len(q.free), "places are given back")
	})
}
