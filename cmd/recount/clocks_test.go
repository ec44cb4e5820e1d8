package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// etcd, unmodified, lives through 200 faults of its clocks, one after the other on each of its nodes, and tells the right
// time at the end.
func TestEtcdSurvivesManyClockFaults(t *testing.T) {
	recount, _ := program(t)
	var scenario bytes.Buffer
	scenario.WriteString("about: clocks\ntarget: etcd\nnodes: 3\ntime: 30s\nschedule:\n")
	faults := []string{
		"fault: clock-jump, with: {by: 30s}", "fault: clock-drift, with: {by: 1%}", "fault: clock-jump, with: {by: -1h}",
		"fault: clock-drift, with: {by: -5%}", "fault: clock-strobe, with: {by: 10s, every: 20ms}",
	}
	for i := range 200 {
		at := time.Duration(i) * 140 * time.Millisecond
		fmt.Fprintf(&scenario, "  - {at: %v, %s, nodes: [n%d], for: 100ms}\n", at, faults[i%len(faults)], i%3+1)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "clocks.yaml")
	require.NoError(t, os.WriteFile(file, scenario.Bytes(), 0o644))
	cmd := exec.Command(recount, "run", file, "--on", "docker", "--results", filepath.Join(dir, "results"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)

	text, err := os.ReadFile(filepath.Join(dir, "results", "latest", "history.jsonl"))
	require.NoError(t, err)
	h, err := history.Parse(bytes.NewReader(text))
	require.NoError(t, err)
	done := map[history.F]int{}
	var last [3]history.Reading
	for _, op := range h.Ops {
		switch {
		case op.Process == history.Nemesis && op.Type != history.Invoke:
			require.Equal(t, history.OK, op.Type, "%s %s of %v: %s", op.F, op.Fault.Name, op.Fault.Nodes, op.Error)
			done[op.F]++
		case op.F == history.Exit:
			require.Fail(t, "etcd ended by itself", "%s: %s", op.Node, op.Error)
		case op.F == history.ReadClock:
			last[op.Node[1]-'1'] = op.Reading
		}
	}
	require.Equal(t, 200, done[history.Inject])
	require.Equal(t, 200, done[history.Heal])
	for i, r := range last {
		require.Zero(t, r.Wall, "n%d", i+1)
	}
}
