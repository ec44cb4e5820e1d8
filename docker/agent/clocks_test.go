//go:build linux && (amd64 || arm64)

package agent

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/docker/agent/clock"
	"recount/history"
)

// program starts a process that executes another program when it is told to.
func program(t *testing.T) (pid int, execute func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to reach into processes")
	}
	child := exec.Command("sh", "-c", "read line; exec sleep 600")
	in, err := child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	t.Cleanup(func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	})
	return child.Process.Pid, func() {
		_, err := fmt.Fprintln(in)
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", child.Process.Pid))
			return err == nil && strings.TrimSpace(string(name)) == "sleep"
		}, time.Minute, time.Millisecond)
	}
}

// Clocks of a node that are named twice are refused: nothing waits for them, and no later request does.
func TestClocksOfANodeAreSetOnceAtATime(t *testing.T) {
	a := &agent{places: map[string]*place{"n1": {name: "n1"}}}
	_, err := a.skew(Skew{Clocks: []history.Clock{{Node: "n1"}, {Node: "n1", Offset: 1}}})
	require.EqualError(t, err, "the clocks of n1 are named twice")
	require.True(t, a.places["n1"].clocks.mu.TryLock())
}

// A process that has just been forked is patched, and executes its program before its clocks are set, or before they are
// looked at: the program's clocks are what counts.
func TestAProcessThatExecutesAnotherProgram(t *testing.T) {
	for _, when := range []string{"before its clocks are set", "before they are looked at"} {
		t.Run(when, func(t *testing.T) {
			pid, execute := program(t)
			var c clocks
			p, err := c.join(pid)
			require.NoError(t, err)
			c.patches = map[int]*clock.Patch{pid: p}
			if when == "before its clocks are set" {
				execute()
			}
			at, err := c.turn(clock.Skew{Offset: time.Minute})
			require.NoError(t, err)
			require.False(t, at.IsZero())
			if when == "before they are looked at" {
				execute()
			}
			var v Verified
			c.look("n1", &v)
			require.Equal(t, Verified{}, v)
			line, err := c.patches[pid].Timeline()
			require.NoError(t, err)
			require.Equal(t, time.Minute, line.Skew.Offset)
		})
	}
}
