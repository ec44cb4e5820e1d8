package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/internal/testalone"
)

// powerCuts is a short power-failure, and with how = kill-all its harmless sister.
func powerCuts(t *testing.T, fault string) string {
	var b strings.Builder
	b.WriteString("target: raft\nnodes: 5\ntime: 15s\nschedule:\n")
	for _, at := range []string{"500ms", "4s", "7500ms", "11s"} {
		fmt.Fprintf(&b, "  - {at: %s, fault: %s, nodes: [all], for: 1s}\n", at, fault)
	}
	path := filepath.Join(t.TempDir(), "power.yaml")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	return path
}

// A vote that is not synced is kept by kill -9, and forgotten when the power fails: two leaders in one term. A vote that is
// synced is kept.
func TestAVoteThatIsNotSyncedOnContainers(t *testing.T) {
	unsynced := []string{"--opt", "unsynced-vote=true"}
	for _, c := range []struct {
		name, fault string
		args        []string
		want        string
	}{
		{"killed", "kill-all", unsynced, "valid"},
		{"without power", "crash", unsynced, "invalid"},
		{"synced", "crash", nil, "valid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, api := program(t)
			want := map[string]string{"single-leader-per-term": c.want, "monotonic-term": c.want}
			// It takes another leader, in the same term: most times, each time that the power fails.
			r := shows(t, func(r *result) string { return r.other(t, want) }, append([]string{powerCuts(t, c.fault)}, c.args...)...)
			require.Empty(t, ownLeft(t, api, r.Run))
		})
	}
}

// mounts are the disks that are mounted on this machine's volumes of one run. An engine elsewhere has them elsewhere.
func mounts(t *testing.T, dir string) (lines []string) {
	all, err := os.ReadFile("/proc/self/mounts")
	require.NoError(t, err)
	for line := range strings.Lines(string(all)) {
		if strings.Contains(line, "fuse.recount") && strings.Contains(line, record.RunID(dir)) {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestDisksAreUnmounted(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *exec.Cmd, string){
		"after Ctrl-C": func(t *testing.T, cmd *exec.Cmd, _ string) {
			require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
			require.Error(t, cmd.Wait())
		},
		"after SIGKILL, by clean": func(t *testing.T, cmd *exec.Cmd, path string) {
			require.NoError(t, cmd.Process.Kill())
			require.Error(t, cmd.Wait())
			out, err := exec.Command(path, "clean").CombinedOutput()
			t.Logf("%v\n%s", err, out) // an engine may be unable to part with what others left
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, api := program(t)
			testalone.Wait(t) // now, as the run would be over while it waits
			cmd, dir, _ := begin(t, powerCuts(t, "crash"), "raft")
			end(t, cmd, path)
			require.Empty(t, mounts(t, dir))
			require.Empty(t, ownLeft(t, api, dir))
		})
	}
}
