package harness

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

// Who ends the program while it builds a server has not found that the server does not build.
func TestABuildThatIsInterruptedHasNotFailed(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	_, err := buildStatic(ctx, t.TempDir(), func(string) {})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, hint.Of(err))
}
