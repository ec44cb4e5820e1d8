package harness

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
)

func TestClientsLoseANodeThatGoesOnLeading(t *testing.T) {
	r, err := Simulate(context.Background(), record.Plan{
		Target: "raft", On: record.OnSim, Nodes: 3, Time: 20 * time.Second, Seed: 4, Workloads: []string{"fence"},
		Schedule: nemesis.Schedule{{At: 5 * time.Second, Fault: "cut-clients", For: 5 * time.Second}},
	})
	require.NoError(t, err)
	require.Equal(t, record.StatusHeld, r.Status)
	lost, cut := "", false
	answers, silences, writes := 0, 0, map[history.Type]int{}
	for i, op := range r.History.Ops {
		switch {
		case op.F == history.Inject && op.Type == history.OK:
			lost, cut = op.Fault.Nodes[0], true
		case op.F == history.Heal && op.Type == history.OK:
			cut = false
		case cut && op.F == history.Announce:
			require.NotEqual(t, lost, op.Node, "nothing has happened to it")
		case op.Node != lost || !cut:
		case op.F == history.Observe && op.Type == history.OK:
			if begun := r.History.Other(i); r.History.Ops[begun].Time > r.History.Ops[i].Time-time.Second {
				answers++
			}
		case op.F == history.Observe && op.Type == history.Info:
			silences++
		case op.F == history.Write && op.Type != history.Invoke:
			writes[op.Type]++
		}
	}
	require.Zero(t, answers)
	require.Positive(t, silences)
	require.Zero(t, writes[history.OK])
	require.Positive(t, writes[history.Info], "nobody knows what became of them")
}
