package harness

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/nemesis"
)

// handedOver makes a simulated run with this schedule, and returns what became of what was asked: of resign and of inject.
func handedOver(t *testing.T, p record.Plan) (r *record.Run, asked []history.Op, ends []history.Op) {
	t.Helper()
	p.On = record.OnSim
	r, err := Simulate(context.Background(), p)
	require.NoError(t, err)
	for _, op := range r.History.Ops {
		switch {
		case op.F == history.Resign:
			asked = append(asked, op)
		case op.F == history.Inject && op.Type != history.Invoke && op.Fault.Name == "hand-over":
			ends = append(ends, op)
		}
	}
	return r, asked, ends
}

func TestALeaderIsAskedToHandOver(t *testing.T) {
	p := record.Plan{
		Target: "raft-prevote", Nodes: 5, Time: 20 * time.Second, Seed: 4,
		Schedule: nemesis.Schedule{
			{At: 4 * time.Second, Fault: "isolate", Nodes: []string{"follower"}, For: 5 * time.Second},
			{At: 6 * time.Second, Fault: "hand-over"},
		},
	}
	r, asked, ends := handedOver(t, p)
	require.Equal(t, record.StatusHeld, r.Status, "a leader that was asked to go is held against nobody")
	require.Len(t, asked, 2)
	require.Equal(t, []history.Type{history.Invoke, history.OK}, []history.Type{asked[0].Type, asked[1].Type})
	require.Equal(t, history.Process(11), asked[0].Process, "a client's: after 5 observers, 5 writers and the final reader")
	require.Len(t, ends, 1)
	require.Equal(t, history.OK, ends[0].Type)
	require.Equal(t, []string{asked[0].Node}, ends[0].Fault.Nodes)
	require.Equal(t, history.More{history.HandOvers: {history.HandOver{Node: asked[0].Node, ID: 2, Asked: true}}}, ends[0].Fault.More)
	another := slices.ContainsFunc(r.History.Ops, func(op history.Op) bool {
		return op.F == history.Announce && op.View.Claims() && op.Node != asked[0].Node && op.Time > asked[1].Time && op.Time < asked[1].Time+time.Second
	})
	require.True(t, another, "another leads soon")

	// The same again from what was recorded.
	actions, err := nemesis.ActionsOf(r.History)
	require.NoError(t, err)
	p.Schedule, p.Recorded = nil, actions
	again, repeated, _ := handedOver(t, p)
	require.Equal(t, asked, repeated)
	require.NoError(t, Same(r.History, again.History))
}

// Who does not lead is asked in vain; of who gives no answer nobody knows.
func TestWhoIsAskedToHandOverInVain(t *testing.T) {
	plan := func(steps ...nemesis.Step) record.Plan {
		return record.Plan{Target: "raft-prevote", Nodes: 3, Time: 15 * time.Second, Seed: 4, Schedule: steps}
	}
	ask := nemesis.Step{At: 5 * time.Second, Fault: "hand-over", Nodes: []string{"follower"}}
	r, asked, ends := handedOver(t, plan(ask))
	require.Equal(t, history.Fail, asked[1].Type)
	require.Equal(t, history.Fail, ends[0].Type)
	require.Equal(t, "it does not lead", ends[0].Error)
	require.Equal(t, record.StatusUnknown, r.Status, "it was to take effect")

	ask.Nodes = []string{"leader", "follower"}
	_, _, ends = handedOver(t, plan(ask))
	require.Equal(t, "this election takes no wish who is to lead", ends[0].Error)

	ask.Nodes = []string{"leader"}
	_, asked, ends = handedOver(t, plan(nemesis.Step{At: 4 * time.Second, Fault: "cut-clients", For: 5 * time.Second}, ask))
	require.Equal(t, history.Info, asked[1].Type)
	require.Equal(t, history.Info, ends[0].Type)
	require.Equal(t, "no answer", ends[0].Error)
}

// No run is made with a fault that its target cannot have, and none is drawn.
func TestWhoCannotBeAskedToHandOver(t *testing.T) {
	p := record.Plan{Target: "highest-address", On: record.OnSim, Schedule: nemesis.Schedule{{Fault: "hand-over"}}}
	err := Check(p)
	require.ErrorContains(t, err, "hand-over: highest-address cannot be asked to hand over")
	require.NotEmpty(t, hint.Of(err))
	p.Target = "raft"
	require.NoError(t, Check(p))
	for target, can := range map[string]bool{"raft": true, "highest-address": false} {
		require.Equal(t, can, slices.Contains(Drawn(target, nil, record.OnSim), "hand-over"), target)
	}
	for target, can := range map[string]bool{"etcd": true, "hashicorp-raft": true, "dragonboat": true, "etcd-raft-server": true, "zookeeper": false} {
		require.Equal(t, can, slices.Contains(Drawn(target, nil, record.OnDocker), "hand-over"), target)
	}
}

// saying is a cluster whose nodes answer a request so.
type saying struct {
	Cluster
	err error
}

func (a *saying) Command(_ string, _ election.Command, done func(uint64, error)) { done(0, a.err) }

// A file whose leaders never hand over looks like one whose leader stays: the run's sentence says what they said.
func TestNobodyHandsOver(t *testing.T) {
	nodes := &saying{err: errors.New("it refused: 404 Not Found")}
	u := countUnread(nodes, history.Bounds{Poll: 50 * time.Millisecond}, true)
	ask := func() { u.Command("n1", election.Command{Do: election.Resign}, func(uint64, error) {}) }
	require.Empty(t, u.words(), "nobody was asked")
	ask()
	require.Equal(t, "No node that was asked to hand over said that it does. The last: it refused: 404 Not Found.", u.words())
	nodes.err = nil
	ask()
	require.Empty(t, u.words())
}
