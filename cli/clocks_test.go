package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/internal/testlong"
)

// write puts a scenario into a file.
func writeScenario(t *testing.T, text string) (path string) {
	path = filepath.Join(t.TempDir(), "scenario.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// A lease by a clock that was set back goes on for its holder alone, by a clock that only drifts it does not, unless that
// drifts by more than the lease allows for.
func TestLeasesByWrongClocksOnContainers(t *testing.T) {
	for _, c := range []struct {
		clock, fault, want string
		long               bool
	}{
		{"wall", "fault: clock-jump, with: {by: -30s}", "invalid", false},
		{"monotonic", "fault: clock-jump, with: {by: -30s}", "valid", true},
		{"monotonic", "fault: clock-drift, with: {by: -80%}", "invalid", true},
	} {
		t.Run(c.clock+" "+c.fault, func(t *testing.T) {
			if c.long {
				testlong.Only(t)
			}
			t.Parallel()
			_, api := program(t)
			file := writeScenario(t, fmt.Sprintf(`
target: leader-lease
options: {clock: %s}
nodes: 3
time: 9s
schedule:
  - {at: 500ms, nodes: [leader], for: 7s, %s}
  - {at: 1s, fault: isolate, nodes: [leader], for: 6s}
`, c.clock, c.fault))
			want := map[string]string{"exclusive-leadership": c.want, "single-leader-per-term": "valid"}
			r := shows(t, func(r *result) string { return r.other(t, want) }, file)
			read := 0
			for _, op := range stored(t, r).Ops {
				if op.F == history.ReadClock {
					read++
				}
			}
			require.Positive(t, read, "clocks are sampled all the while")
			require.Empty(t, ownLeft(t, api, r.Run))
		})
	}
}

// etcd, unmodified, lives through 200 faults of its clocks, one after the other on each of its nodes, and tells the right
// time at the end.
func TestEtcdSurvivesManyClockFaults(t *testing.T) {
	testlong.Only(t)
	t.Parallel()
	var scenario bytes.Buffer
	scenario.WriteString("about: clocks\ntarget: etcd\nnodes: 3\ntime: 31s\nschedule:\n")
	faults := []string{
		"fault: clock-jump, with: {by: 30s}", "fault: clock-drift, with: {by: 1%}", "fault: clock-jump, with: {by: -1h}",
		"fault: clock-drift, with: {by: -5%}", "fault: clock-strobe, with: {by: 10s, every: 20ms}",
	}
	for i := range 200 {
		at := time.Duration(i) * 140 * time.Millisecond
		fmt.Fprintf(&scenario, "  - {at: %v, %s, nodes: [n%d], for: 100ms}\n", at, faults[i%len(faults)], i%3+1)
	}
	var done map[history.F]int
	r := shows(t, func(r *result) string {
		done = map[history.F]int{}
		for _, op := range stored(t, r).Ops {
			if op.Process == history.Nemesis && op.Type != history.Invoke {
				if op.Type == history.Fail {
					return fmt.Sprintf("%s %s of %v: %s", op.F, op.Fault.Name, op.Fault.Nodes, op.Error)
				}
				done[op.F]++
			}
		}
		return r.other(t, map[string]string{"single-leader-per-term": "valid"})
	}, writeScenario(t, scenario.String()))
	var last [3]history.Reading
	for _, op := range stored(t, r).Ops {
		switch op.F {
		case history.Exit:
			require.Fail(t, "etcd ended by itself", "%s: %s", op.Node, op.Error)
		case history.ReadClock:
			last[op.Node[1]-'1'] = op.Reading
		}
	}
	require.Equal(t, 200, done[history.Inject])
	require.Equal(t, 200, done[history.Heal])
	for i, r := range last {
		require.Zero(t, r.Wall, "n%d", i+1)
	}
}
