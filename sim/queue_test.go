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
		var q queue
		var want []added
		n, pops := 0, rapid.IntRange(1, 9).Draw(t, "pops")
		for range rapid.IntRange(0, 600).Draw(t, "steps") {
			if len(want) > 0 && rapid.IntRange(0, 9).Draw(t, "pop") < pops {
				e := q.pop()
				slices.SortStableFunc(want, func(a, b added) int { return cmp.Compare(a.at, b.at) })
				require.Equal(t, want[0].at, e.at)
				require.Equal(t, int32(want[0].n), q.slab[e.slot].node)
				q.release(e.slot)
				want = want[1:]
				continue
			}
			at := time.Duration(rapid.IntRange(0, 20).Draw(t, "at"))
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
