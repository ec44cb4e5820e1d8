package harness

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/nemesis"
)

// A fault that is aimed at something that never comes has put nothing to the test.
func TestAWrittenFaultThatNothingMeetsDecidesNothing(t *testing.T) {
	for _, c := range []struct {
		step nemesis.Step
		want string // of the detail; "" for a run that is worth something
	}{
		{nemesis.Step{Fault: "lose-message", Nodes: []string{"leader"}, With: map[string]string{"kind": "heartbeat"}},
			"lose-message leader others: no message of kind heartbeat was sent; sent were AppendEntries"},
		{nemesis.Step{Fault: "crash-within", Nodes: []string{"leader"}, With: map[string]string{"kind": "nosuch"}, For: time.Second},
			"crash-within leader: no message of kind nosuch was received; received were AppendEntriesResponse"},
		{nemesis.Step{Fault: "hold-message", Nodes: []string{"leader"}, With: map[string]string{"kind": "AppendEntries", "nth": "100000"}},
			"hold-message leader others: it waits for the message of kind AppendEntries that comes after 99999 others at one node, and no more than "},
		{nemesis.Step{Fault: "crash-within", Nodes: []string{"follower"}, With: map[string]string{"on": "lead"}}, "crash-within follower: no beginning to lead was seen"},
		{nemesis.Step{Fault: "lose-message", Nodes: []string{"leader"}, With: map[string]string{"kind": "AppendEntries"}}, ""},
		{nemesis.Step{Fault: "hold-message", Nodes: []string{"leader"}, With: map[string]string{"until": "leads"}},
			"hold-message leader others: what it held was to wait until a message of kind leads is sent, and none was: did you mean until: lead?"},
		{nemesis.Step{Fault: "hold-message", Nodes: []string{"leader"}, With: map[string]string{"until": "RequestVote"}}, ""},
		{nemesis.Step{Fault: "crash-within", Nodes: []string{"leader"}}, ""},
		{nemesis.Step{Fault: "isolate", Nodes: []string{"leader"}, With: map[string]string{"ports": "2380"}, For: time.Second},
			"isolate leader: nothing is sent over port 2380: simulated nodes speak over port 7000 alone"},
		{nemesis.Step{Fault: "isolate", Nodes: []string{"leader"}, With: map[string]string{"ports": "2380,7000"}, For: time.Second}, ""},
	} {
		p := (&Scenario{Name: "trap", Target: "raft", Time: 10 * time.Second, Schedule: nemesis.Schedule{
			{At: time.Second, Fault: "isolate", Nodes: []string{"follower"}, For: time.Second}, c.step,
		}}).Plan(record.Plan{On: record.OnSim, Seed: 3})
		p.Schedule[1].At = 4 * time.Second
		r, err := Simulate(context.Background(), p)
		require.NoError(t, err)
		if c.want == "" {
			require.Equal(t, record.Flawless, r.Flaw, r.Detail)
			continue
		}
		require.Equal(t, record.StatusUnknown, r.Status)
		require.Equal(t, record.NotAll, r.Flaw)
		require.Contains(t, r.Detail, c.want)

		if c.step.Fault == "isolate" {
			continue
		}
		p.Scenario = "" // as a hunt draws it
		r, err = Simulate(context.Background(), p)
		require.NoError(t, err)
		require.Equal(t, record.Flawless, r.Flaw)
	}
}
