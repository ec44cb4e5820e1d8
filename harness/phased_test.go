package harness

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
)

// A written schedule may be timed by the election itself: by what nodes do, and by how long they wait for each other.
func TestFaultsComeInPhaseWithTheElection(t *testing.T) {
	file := filepath.Join(t.TempDir(), "phased.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
target: raft
nodes: 5
time: 40s
schedule:
  - {at: 1s, fault: pause, nodes: [leader], for-times: 0.9}
  - {at: 8s, fault: pause, nodes: [leader], for-times: 1.0}
  - {at: 16s, fault: kill, nodes: [leader], for-times: 1.1}
  - {at: 16s, after: vote, fault: pause, nodes: [voter], for-times: 0.9}
  - {at: 16s, after: election, fault: isolate, nodes: [leader], for: 3s}
  - {at: 25s, fault: kill, nodes: [leader], for: 5s}
  - {at: 25s, after: leader-change, times: 1.1, fault: cut-link, nodes: [leader, follower], for: 1s}
`), 0o644))
	s, err := LoadScenario(file)
	require.NoError(t, err)
	r, err := Simulate(context.Background(), s.Plan(record.Plan{On: record.OnSim, Seed: 3}))
	require.NoError(t, err)
	silence := r.Setup().Bounds.Silence
	began, lasted := map[int]time.Duration{}, []time.Duration{}
	var cues []string
	for i, op := range r.History.Ops {
		if op.Process != history.Nemesis || op.Type == history.Invoke {
			continue
		}
		require.Equal(t, history.OK, op.Type, op.Error)
		switch op.F {
		case history.Inject:
			began[op.Fault.ID] = op.Time
			if op.Fault.After == "" {
				continue
			}
			what, _, _ := strings.Cut(op.Fault.After, " ")
			cues = append(cues, what+" "+op.Fault.Name)
			if op.Fault.Name == "cut-link" {
				require.Equal(t, 1100*silence/1000, op.Time-lastElection(r.History.Ops[:i]), "so long after the election")
			} else {
				require.Equal(t, op.Time, r.History.Ops[i-2].Time, "at the moment of what it waited for")
			}
		case history.Heal:
			lasted = append(lasted, op.Time-began[op.Fault.ID])
		}
	}
	require.Equal(t, []string{"vote pause", "election isolate", "election cut-link"}, cues)
	for _, times := range []time.Duration{900, 1000, 1100} {
		require.Contains(t, lasted, times*silence/1000)
	}
}

// lastElection is when a node last began to lead that had not led before.
func lastElection(ops []history.Op) (at time.Duration) {
	leader := ""
	for _, op := range ops {
		if op.F == history.Announce && op.View.Claims() && op.Node != leader {
			at, leader = op.Time, op.Node
		}
	}
	return at
}
