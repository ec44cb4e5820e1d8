//go:build linux

package agent

import (
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Where more want to run than there are processors, somebody waits.
func TestWhoWaitsForAProcessorIsSeen(t *testing.T) {
	run := func() int {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return cmd.Process.Pid
	}
	busy := map[int]string{}
	for range 2 * runtime.NumCPU() {
		busy[run()] = "n1"
	}
	threads := waiting{}
	defer threads.close()
	threads.find(busy)
	require.Len(t, threads, len(busy))
	var waited time.Duration
	require.Eventually(t, func() bool {
		waited += threads.read(nil)
		return waited > 200*time.Millisecond
	}, 30*time.Second, 10*time.Millisecond)
	for range 10 {
		time.Sleep(10 * time.Millisecond)
		require.Zero(t, threads.read(map[string]bool{"n1": true}), "it is meant to wait")
	}
	threads.find(nil)
	require.Empty(t, threads)
}
