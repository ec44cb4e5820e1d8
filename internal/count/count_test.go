package count

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOf(t *testing.T) {
	require.Equal(t, "0 nodes", Of(0, "node"))
	require.Equal(t, "1 node", Of(1, "node"))
	require.Equal(t, "12 nodes", Of(12, "node"))
	require.Equal(t, "more change", "more "+Noun(1, "change"))
}
