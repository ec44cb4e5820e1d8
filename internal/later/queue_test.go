package later

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "recount/internal/testseed"
)

type thing struct {
	at    time.Duration
	added int
}

// Whatever is added, removed and taken, what comes is what a sorted list has.
func TestWhatIsDueComesInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue[thing]
		var want []thing
		for added := range rapid.IntRange(0, 300).Draw(t, "steps") {
			switch n := rapid.IntRange(0, 9).Draw(t, "step"); {
			case n < 7:
				k := thing{time.Duration(rapid.IntRange(0, 20).Draw(t, "at")), added}
				q.Add(k.at, k)
				want = append(want, k)
				slices.SortStableFunc(want, func(a, b thing) int { return cmp.Compare(a.at, b.at) })
			case n < 9:
				by := time.Duration(rapid.IntRange(0, 20).Draw(t, "by"))
				got, some := q.Take(by)
				if require.Equal(t, len(want) > 0 && want[0].at <= by, some); some {
					require.Equal(t, want[0], got)
					want = want[1:]
				}
			default:
				gone := func(k thing) bool { return k.added%3 == n%3 }
				q.Remove(gone)
				want = slices.DeleteFunc(want, gone)
			}
			at, some := q.Next()
			require.Equal(t, len(want) > 0, some)
			if some {
				require.Equal(t, want[0].at, at)
			}
		}
		for _, k := range want {
			got, _ := q.Take(k.at)
			require.Equal(t, k, got)
		}
		_, some := q.Take(1 << 60)
		require.False(t, some)
	})
}
