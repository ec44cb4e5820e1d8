package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/internal/testlong"
)

// Systems that are watched in other ways than over HTTP, and one through which candidates elect, each through a short run.
func TestServicesOnContainers(t *testing.T) {
	testlong.Only(t)
	const valid, invalid = "valid", "invalid"
	for _, c := range []struct {
		name string
		text string
		want map[string]string
	}{
		{"zookeeper", `
target: zookeeper
nodes: 3
time: 16s
schedule:
  - {at: 1s, fault: isolate, nodes: [follower], for: 4s}
  - {at: 9s, fault: kill, nodes: [leader], for: 4s}
`, map[string]string{"single-leader-per-term": valid, "sticky-leader": valid}},
		{"redis-sentinel", `
target: redis-sentinel
nodes: 3
time: 25s
schedule: # sentinels ask the master for its replicas every 10 s
  - {at: 12s, fault: isolate, nodes: [leader], for: 12s}
`, map[string]string{"exclusive-leadership": invalid}},
		{"etcd-election", `
target: etcd-election
nodes: 3
time: 18s
workloads: [record]
schedule:
  - {at: 1s, fault: pause, nodes: [leader], for: 6s}
  - {at: 11s, fault: pause, nodes: [leader], for: 6s}
`, map[string]string{"single-leader-per-term": valid, "fencing": invalid}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, api := program(t)
			file := writeScenario(t, c.text)
			r := shows(t, func(r *result) string { return r.other(t, c.want) }, file)
			require.Empty(t, ownLeft(t, api, r.Run))
		})
	}
}
