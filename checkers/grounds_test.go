package checkers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnjudgeable(t *testing.T) {
	const answers = "1s n1 leader 1\n1s n2 follower 1\n2s end"
	for bounds, want := range map[string]bool{
		"bounds silence=1s elect=4s poll=1s": false,
		"bounds silence=1s elect=4s":         false,
		"bounds silence=1s":                  true,
		"bounds elect=1s":                    true,
		"":                                   true,
	} {
		h, err := parseHistory("nodes n1 n2\n" + bounds + "\n" + answers)
		require.NoError(t, err)
		require.Equal(t, want, gather(h).unjudgeable() != "", bounds)
	}
}
