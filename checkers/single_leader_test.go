package checkers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A node that led a term twice is one leader of it: only another node makes two.
func TestByTerm(t *testing.T) {
	lead := func(term uint64, node int) leadership { return leadership{term: term, node: node} }
	terms, several := byTerm([]leadership{
		lead(1, 0), lead(2, 1), lead(2, 1), lead(3, 0), lead(3, 0), lead(3, 2), lead(3, 1), lead(4, 2),
	})
	require.Equal(t, 4, terms)
	require.Equal(t, [][2]leadership{{lead(3, 0), lead(3, 2)}}, several)

	terms, several = byTerm(nil)
	require.Zero(t, terms)
	require.Empty(t, several)
}
