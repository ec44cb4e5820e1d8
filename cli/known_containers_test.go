package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/internal/testlong"
	"recount/targets"
)

// What an election is known to break in simulation it breaks on containers, too: the same code over real sockets, clocks and
// disks. What raft, raft-prevote, BlazingMQ's with terms and leader-lease do there, other tests tell.

// How the weaknesses are brought about.
const (
	// The leader is cut off with a minority, and the others elect another one.
	cutOff = `
nodes: 5
time: 8s
schedule: [{at: 1s, fault: leader-with-minority, nodes: [leader], for: 6s}]
`
	// Who cannot be replaced dies.
	gone = `
nodes: 3
time: 14s
schedule: [{at: 1s, fault: kill, nodes: [NODE], for: 12s}]
`
	// The highest dies, and the next one while it waits for the highest's answer.
	hung = `
nodes: 5
time: 22s
schedule:
  - {at: 1s, fault: kill, nodes: [n5], for: 20s}
  - {at: 4.7s, fault: kill, nodes: [n4], for: 16.3s}
`
	// The highest dies soon after each election that it wins.
	bounce = `
nodes: 3
time: 26s
schedule: [{at: 1s, fault: unstable-top, nodes: [n3], with: {after: 1s, down: 2s}, for: 24s}]
`
	// The leader stands still for longer than its lease, mostly between looking whether it leads and writing.
	stale = `
nodes: 4
time: 21s
workloads: [record]
schedule:
  - {at: 1s, fault: pause, nodes: [leader], for: 4s}
  - {at: 8s, fault: pause, nodes: [leader], for: 4s}
  - {at: 15s, fault: pause, nodes: [leader], for: 4s}
`
)

func TestKnownWeaknessesShowOnContainers(t *testing.T) {
	testlong.Only(t)
	program(t)
	slots := make(chan struct{}, 4) // runs at a time
	dir := t.TempDir()
	for _, c := range []struct {
		target, property, scenario string
		options                    []string
	}{
		{"heartbeat-only", "exclusive-leadership", cutOff, nil},
		{"random-backoff", "exclusive-leadership", cutOff, nil},
		{"bully", "exclusive-leadership", cutOff, nil},
		{"next-in-line", "exclusive-leadership", cutOff, nil},
		{"candidate-ordinary", "exclusive-leadership", cutOff, nil},
		{"invitation", "exclusive-leadership", cutOff, nil},
		{"ring", "exclusive-leadership", cutOff, nil},
		{"ring-max", "exclusive-leadership", cutOff, nil},
		{"stable-leader", "exclusive-leadership", cutOff, nil},
		{"blazingmq-naive", "ordered-updates", "workloads: [updates]\n" + cutOff, nil},
		{"highest-address", "elects", gone, nil},
		{"blob-lease", "elects", gone, nil},
		{"bully-no-timeout", "elects", hung, []string{"scale=1"}},
		{"bully-quorum", "no-ping-pong", bounce, nil},
		{"zookeeper-recipe", "fencing", stale, nil},
		{"etcd-election", "fencing", stale, nil},
		{"kubernetes-lease", "fencing", stale, nil},
	} {
		t.Run(c.target, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			node := "n3" // the highest
			if c.target == "blob-lease" {
				node = "n1" // the store
			}
			file := filepath.Join(dir, c.target+".yaml")
			text := "target: " + c.target + "\n" + strings.Replace(c.scenario, "NODE", node, 1)
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			args := []string{file}
			if found, err := targets.Find(c.target); err == nil && found.Real != nil {
				args = append(args, "--opt", "model=true")
			}
			for _, o := range c.options {
				args = append(args, "--opt", o)
			}
			shows(t, func(r *result) string {
				if r.Status == record.StatusBroken {
					return "a promise is broken"
				}
				return r.other(t, map[string]string{c.property: "invalid"})
			}, args...)
		})
	}
}
