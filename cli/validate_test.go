package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALogIsShownFromBothEnds(t *testing.T) {
	require.Equal(t, []string{"a", "b", "c", "d"}, bothEnds([]string{"a", "b", "c", "d"}, 2))
	require.Equal(t, []string{"a", "b", "… and 3 more lines", "f", "g"}, bothEnds([]string{"a", "b", "c", "d", "e", "f", "g"}, 2))
}
