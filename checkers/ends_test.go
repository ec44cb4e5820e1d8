package checkers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// TestEndsThatSayNothing has what was begun tell what was done: if it told of anything, and if that took effect.
func TestEndsThatSayNothing(t *testing.T) {
	h, err := parseHistory("nodes n1 n2\n1s n1 n2 follower 3\n2s nemesis inject isolate n1: cut n1-n2; only\n4s n1 follower 2\n5s end")
	require.NoError(t, err)
	for i := range h.Ops {
		if op := &h.Ops[i]; op.F == history.Inject && op.Type == history.Invoke {
			op.Fault = nil
		}
	}
	r := find("monotonic-term").Check(t.Context(), h)
	require.Equal(t, "n1 reported term 3 and later term 2, 2 s after isolate of n1 began", r.Why, "only the end names it")

	h, err = parseHistory("nodes n1 n2\n1s n1 n2 follower 3\n2s nemesis inject kill n1: kill n1\n3s nemesis heal kill n1: start n1; only\n4s n1 follower 2\n5s end")
	require.NoError(t, err)
	for i, want := range map[history.Type]string{history.OK: "1", history.Info: "0"} {
		for k := range h.Ops {
			if op := &h.Ops[k]; op.F == history.Heal && op.Type != history.Invoke {
				op.Type = i
			}
		}
		restarts, _ := value(find("monotonic-term").Check(t.Context(), h), "restarts")
		require.Equal(t, want, restarts, "%v", i)
	}
}
