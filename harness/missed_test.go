package harness

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/nemesis"
)

func TestAStepThatFindsNobodyUntilTheEndDecidesNothing(t *testing.T) {
	p := (&Scenario{Name: "none", Target: "raft", Nodes: 3, Time: 20 * time.Second, Schedule: nemesis.Schedule{
		{At: 14 * time.Second, Fault: "partition", Nodes: []string{"n1", "n2", "n3"}},
		{At: 16 * time.Second, Fault: "kill", Nodes: []string{"next-leader"}, For: time.Second},
	}}).Plan(record.Plan{On: record.OnSim, Seed: 1})
	r, err := Simulate(context.Background(), p)
	require.NoError(t, err)
	require.Equal(t, record.StatusUnknown, r.Status)
	require.Equal(t, record.NotAll, r.Flaw)
	require.Contains(t, r.Detail, `kill next-leader: from 16s of the schedule on, until the run ended, no node to be "next-leader"`)

	p.Scenario = "" // as a hunt draws it
	r, err = Simulate(context.Background(), p)
	require.NoError(t, err)
	require.Equal(t, record.Flawless, r.Flaw)
}
