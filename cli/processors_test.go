package cli

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

func TestRunsInVirtualTimeKeepToAsManyProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, c := range []struct {
		on         string
		runs, left int
	}{
		{record.OnVirtual, 1, 1}, {record.OnVirtual, 3, 3}, {record.OnVirtual, 8, 4}, {record.OnVirtual, 0, 4},
		{record.OnSim, 1, 4}, {record.OnDocker, 1, 4},
	} {
		back := processors(c.on, c.runs)
		require.Equal(t, c.left, runtime.GOMAXPROCS(0), "%d runs on %s", c.runs, c.on)
		back()
		require.Equal(t, 4, runtime.GOMAXPROCS(0))
	}
}
