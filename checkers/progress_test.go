package checkers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A history that is made of ops, and not read, may not tell what was written.
func TestWritesThatTellNothing(t *testing.T) {
	h := given(t, "testdata/progress/valid-writes.txt")
	for i := range h.Ops {
		h.Ops[i].Reg = nil
	}
	r := CheckSome(t.Context(), h, []string{"progress"})[0]
	require.Empty(t, r.Stack)
	require.Equal(t, Valid, r.Verdict)
}
