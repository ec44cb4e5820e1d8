package bounded

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALogIsKeptUpToABound(t *testing.T) {
	var kept strings.Builder
	l := &Log{To: &kept, Room: 5}
	require.Empty(t, l.Rest())
	for _, text := range []string{"abc", "def", "ghi"} {
		n, err := l.Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, 3, n)
	}
	require.Equal(t, "abcde", kept.String())
	require.Equal(t, 4, l.over)
	require.Contains(t, l.Rest(), "goes on for 4 bytes")
}
