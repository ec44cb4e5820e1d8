package estimate_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recount/harness/estimate"
	_ "recount/internal/testseed" // the same cases each time
)

// Whatever runs are merged in, how often and in which order, what comes of it is what one count of all of them says.
func TestRunsThatWereMadeApartCountAsIfTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.SliceOfN(rapid.SliceOfDistinct(rapid.Uint32Range(0, 30), rapid.ID), 1, 20).Draw(t, "runs")
		var whole estimate.Unseen[uint32]
		parts := make([]estimate.Reach, 4)
		for i, keys := range runs {
			whole.Add(slices.Values(keys))
			parts[rapid.IntRange(0, 3).Draw(t, "part")].Add(uint64(i+1), slices.Values(keys))
		}
		var all estimate.Reach
		order := append(rapid.SliceOfN(rapid.IntRange(0, 3), 0, 5).Draw(t, "again"), 0, 1, 2, 3)
		for _, k := range order {
			b, err := parts[k].MarshalBinary()
			require.NoError(t, err)
			require.NoError(t, all.MergeBinary(b))
		}
		require.Equal(t, whole.Keys(), all.Keys())
		require.Equal(t, whole.Chance(), all.Chance(len(runs)))
	})
}

func TestWhatIsCutShortIsNotRead(t *testing.T) {
	var r estimate.Reach
	r.Add(7, slices.Values([]uint32{1, 5, 1 << 31}))
	r.Add(8, slices.Values([]uint32{5}))
	b, err := r.MarshalBinary()
	require.NoError(t, err)
	require.NoError(t, new(estimate.Reach).MergeBinary(nil), "of no runs")
	for n := 1; n < len(b); n++ {
		require.Error(t, new(estimate.Reach).MergeBinary(b[:n]), "%d of %d bytes", n, len(b))
	}
}
