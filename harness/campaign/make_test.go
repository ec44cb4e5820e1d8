package campaign

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/estimate"
)

// A weakness that comes in more kinds than a shard tells of hides no other, and what is left out counts as not shrunk.
func TestKindsOfEachPropertyAreToldOf(t *testing.T) {
	kinds, runs := map[string]*Kind{}, 2
	for i := range 2 * maxKinds {
		kinds[fmt.Sprintf("common %d", i)] = &Kind{Kind: fmt.Sprintf("common %d", i), Property: "common", Runs: 10, Size: 100 + i}
		runs += 10
	}
	kinds["rare"] = &Kind{Kind: "rare", Property: "rare", Runs: 1, Size: 900}
	kinds["rare, and smaller"] = &Kind{Kind: "rare, and smaller", Property: "rare", Runs: 1, Size: 800}
	all, cut := told(kinds)
	require.Len(t, all, maxKinds)
	require.Equal(t, []string{"common 0", "rare, and smaller", "common 1", "rare", "common 2"}, []string{all[0].Kind, all[1].Kind, all[2].Kind, all[3].Kind, all[4].Kind})
	for _, k := range all {
		runs -= k.Runs
	}
	require.Equal(t, map[string]int{"common": runs}, cut)

	s := &subject{target: &Target{Name: "mine"}, sum: newSum()}
	require.NoError(t, s.sum.add(&Result{Shard: "a", Runs: 1000, Kinds: all, Cut: cut}))
	require.NoError(t, s.sum.add(&Result{Shard: "b", Runs: 1000, Cut: map[string]int{"rare": 5}}))
	s.shrunk = map[string]*Shrunk{}
	for _, k := range all {
		s.shrunk[k.Kind] = &Shrunk{Kind: k.Kind, Signature: k.Kind}
	}
	l := s.looked(&Campaign{Known: []Known{{Target: "mine", Property: "common"}}})
	require.Equal(t, runs+5, l.Unshrunk)
	require.Equal(t, 5, l.Unknown, "the file names the others")
}

// What a slow machine reads of what others have put together counts with its runs, not before.
func TestPacksOfOthersCountWithTheirRuns(t *testing.T) {
	st := opened(t, t.TempDir())
	s := &subject{id: "s", target: &Target{}, sum: newSum(), packs: map[string]bool{}, found: map[string]*Result{}}
	all := chain("s", 0, 4, 1).Shards
	var made []*Result
	for _, shard := range all {
		var reach estimate.Reach
		reach.Add(shard.number()+1, slices.Values([]uint32{uint32(len(made))}))
		b, err := reach.MarshalBinary()
		require.NoError(t, err)
		made = append(made, &Result{Shard: shard.ID(), Runs: 1, Reach: b})
	}
	require.NoError(t, keepPack(t.Context(), st, "s", made))
	r, err := s.result(t.Context(), st, all[0])
	require.NoError(t, err)
	require.NoError(t, s.note(t.Context(), st, []*Result{r}))
	require.Equal(t, 4, s.sum.Runs)
	require.Equal(t, 4, s.looked(&Campaign{}).Chance.Hits)
	require.Equal(t, 4, s.looked(&Campaign{}).Chance.Trials)
}
