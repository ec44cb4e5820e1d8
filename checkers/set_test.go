package checkers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASetHoldsAsManyNodesAsThereMayBe(t *testing.T) {
	all, third := first(maxNodes), set{}
	for i := 0; i < maxNodes; i += 3 {
		third.add(i)
	}
	require.Equal(t, maxNodes, all.count())
	rest := all.minus(third)
	require.Equal(t, all, rest.or(third))
	require.Equal(t, third, all.and(third))
	require.Equal(t, set{}, rest.and(third))
	next := 0
	third.each(func(i int) {
		require.Equal(t, next, i)
		next += 3
	})
	for i := range maxNodes {
		require.Equal(t, i%3 == 0, third.has(i))
		require.Equal(t, i%3 != 0, rest.has(i))
	}
	all.remove(200)
	require.False(t, all.has(200))
	require.Equal(t, maxNodes-1, all.count())
}
