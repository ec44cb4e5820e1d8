package cli

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// actions is what the nemesis did in a run, without the times.
func actions(h *history.History) (all []string) {
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Process == history.Nemesis && op.Type == history.OK {
			all = append(all, fmt.Sprintf("%s %s %v", op.F, op.Fault.Name, op.Fault.Nodes))
		}
	}
	return all
}

func TestASimulatedRunIsReplayedOnContainersAndBack(t *testing.T) {
	path, _ := program(t)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name, "latest") }
	simulate := func(args ...string) {
		out, err := exec.Command(path, append([]string{"run", "--target", "raft-prevote"}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	simulate("--nemesis", "flap-link,isolate", "--nodes", "3", "--time", "12s", "--seed", "2", "--results", filepath.Join(dir, "first"))
	first := stored(t, &result{Run: file("first")})
	require.NotEmpty(t, actions(first))

	made := onContainers(t, "--replay", file("first"))
	second := stored(t, made)
	require.Equal(t, actions(first), actions(second))
	require.Equal(t, first.Setup().Seed, second.Setup().Seed)

	simulate("--replay", made.Run, "--on", "sim", "--results", filepath.Join(dir, "third"))
	third := stored(t, &result{Run: file("third")})
	require.Equal(t, actions(first), actions(third))

	// In simulation times are kept as they were measured on containers.
	begun := func(h *history.History) (times []time.Duration) {
		var settled time.Duration
		for i := range h.Ops {
			switch op := &h.Ops[i]; {
			case op.F == history.Settle:
				settled = op.Time
			case op.Process == history.Nemesis && op.Type == history.Invoke:
				times = append(times, op.Time-settled)
			}
		}
		return times
	}
	require.Equal(t, begun(second), begun(third))
}
