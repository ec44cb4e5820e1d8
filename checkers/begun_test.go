package checkers

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// TestAnnouncementMeanwhile: who has a question under way, and tells of an announcement meanwhile, asked no later for that.
func TestAnnouncementMeanwhile(t *testing.T) {
	for _, asks := range []history.Process{3, lowNumbers - 3, lowNumbers - 2, lowNumbers, 1 << 20} {
		h, err := parseHistory("nodes n1 n2\n1s n1 leader 1\n2s n2 leader 2\n4s n2 leader 2\n5s-7s n1 leader 1\n6s n1 announces leader 1\n9s end")
		require.NoError(t, err)
		for i := range h.Ops {
			if h.Ops[i].Node == "n1" {
				h.Ops[i].Process = asks
			}
		}
		r := find("exclusive-leadership").Check(context.Background(), h)
		require.Equal(t, Invalid, r.Verdict, r.Why)
		require.Contains(t, r.Why, "between 2.000 s and 4.000 s")
	}
}
