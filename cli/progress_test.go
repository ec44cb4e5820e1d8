package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// Where there is no terminal, work that takes long is told of after 2 s, and then every 10 s; so is what comes after it.
func TestProgressIsToldSoonAndThenSeldom(t *testing.T) {
	cmd, to := new(cobra.Command), new(strings.Builder)
	cmd.SetErr(to)
	p := newProgress(cmd)
	lines := func(passed time.Duration) int {
		p.told = time.Now().Add(-passed)
		p.tell(func() string { return "so far" })
		return strings.Count(to.String(), "recount: so far\n")
	}
	require.Equal(t, 0, lines(-time.Minute))
	require.Equal(t, 1, lines(2*time.Second))
	require.Equal(t, 1, lines(3*time.Second))
	require.Equal(t, 2, lines(10*time.Second))
	p.end()
	require.Equal(t, 2, lines(-time.Minute))
	require.Equal(t, 3, lines(2*time.Second))
}
