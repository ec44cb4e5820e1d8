package history

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestThePlaceOfANodeIsWhereItIs(t *testing.T) {
	name := rapid.OneOf(rapid.StringMatching(`(n|zk-|)[0-9]{0,2}`), rapid.SampledFrom([]string{"", "alpha", "n00000000000000000000001", "n99999999999999999999"}))
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SliceOfDistinct(name, rapid.ID).Draw(t, "nodes")
		for _, n := range append(slices.Clone(nodes), name.Draw(t, "another")) {
			require.Equal(t, slices.Index(nodes, n), Place(nodes, n), "%q in %q", n, nodes)
		}
	})
}

func BenchmarkPlace(b *testing.B) {
	nodes := []string{"n1", "n2", "n3", "n4", "n5"}
	for i := 0; b.Loop(); i++ {
		if Place(nodes, nodes[i%5]) != i%5 {
			b.Fatal(i)
		}
	}
}
