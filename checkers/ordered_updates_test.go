package checkers

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// TestWhatIsToldOfANodeRestartsNobody has a fault of a link told of one of its ends: that node goes back all the same.
func TestWhatIsToldOfANodeRestartsNobody(t *testing.T) {
	h, err := parseHistory(`nodes n1 n2 n3
		1s n2 applies 4 5 of n1
		2s-2.1s nemesis inject cut-link n1 n2: cut n1-n2
		3s n2 applies 4 4 of n1
		9s end`)
	require.NoError(t, err)
	for i := range h.Ops {
		if h.Ops[i].Process == history.Nemesis {
			h.Ops[i].Node = "n2"
		}
	}
	require.Equal(t, Invalid, find("ordered-updates").Check(context.Background(), h).Verdict)
}
