package harness

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/internal/testlong"
	"recount/nemesis"
)

// reseated makes a run with this schedule, of etcd's library in simulation unless p says otherwise, and returns what members were asked
// for, and what became of each fault of theirs.
func reseated(t *testing.T, p record.Plan) (r *record.Run, asked, did []history.Op) {
	t.Helper()
	p.Target, p.On = cmp.Or(p.Target, "etcd-raft"), cmp.Or(p.On, record.OnSim)
	r, err := Simulate(context.Background(), p)
	require.NoError(t, err)
	for _, op := range r.History.Ops {
		switch {
		case op.F == history.Reconfigure:
			asked = append(asked, op)
		case op.Process == history.Nemesis && op.Type != history.Invoke && len(op.Fault.Members()) > 0:
			did = append(did, op)
		}
	}
	return r, asked, did
}

// types are those of ops, in order.
func types(ops []history.Op) (all []history.Type) {
	for _, op := range ops {
		all = append(all, op.Type)
	}
	return all
}

// as is what was asked for whom, by the ends of ops.
func as(ops []history.Op) (all []history.Member) {
	for _, op := range ops {
		if op.Type == history.OK {
			all = append(all, *op.Value.(*history.Member))
		}
	}
	return all
}

// outAndIn takes a follower out, and then has the leader replaced.
var outAndIn = nemesis.Schedule{
	{At: 3 * time.Second, Fault: "remove-member", Nodes: []string{"follower"}, For: 10 * time.Second},
	{At: 20 * time.Second, Fault: "replace-member", Nodes: []string{"leader"}, For: 10 * time.Second},
}

// Real servers do what the library does in simulation, and their promises hold.
func TestMembersOfRealServersAreReplaced(t *testing.T) {
	testlong.Only(t)
	for _, target := range []string{"hashicorp-raft", "dragonboat", "etcd-raft-server"} {
		t.Run(target, func(t *testing.T) {
			r, asked, did := reseated(t, record.Plan{Target: target, On: record.OnVirtual, Nodes: 5, Time: 40 * time.Second, Seed: 1, Schedule: outAndIn})
			require.Equal(t, record.StatusHeld, r.Status)
			require.Equal(t, []history.Type{history.OK, history.OK, history.OK, history.OK}, types(did))
			first, second := did[0].Fault.Nodes[0], did[2].Fault.Nodes[0]
			require.Equal(t, []history.Member{
				{Node: first, As: history.Removed}, {Node: first, As: history.Voter},
				{Node: second, As: history.Removed}, {Node: second, As: history.Learner}, {Node: second, As: history.Voter},
			}, as(asked))
		})
	}
}

func TestMembersAreTakenOutAndAddedAgain(t *testing.T) {
	p := record.Plan{Nodes: 5, Time: 40 * time.Second, Seed: 4, Schedule: outAndIn}
	r, asked, did := reseated(t, p)
	require.Equal(t, record.StatusHeld, r.Status)
	require.Equal(t, []history.Type{history.OK, history.OK, history.OK, history.OK}, types(did))
	first, second := did[0].Fault.Nodes[0], did[2].Fault.Nodes[0]
	require.Equal(t, []history.Member{
		{Node: first, As: history.Removed}, {Node: first, As: history.Voter},
		{Node: second, As: history.Removed}, {Node: second, As: history.Learner}, {Node: second, As: history.Voter},
	}, as(asked))
	for _, op := range asked {
		require.NotEqual(t, op.Value.(*history.Member).Node, op.Node, "nobody is asked about itself")
	}
	next := slices.ContainsFunc(r.History.Ops, func(op history.Op) bool {
		return op.F == history.Announce && op.View.Claims() && op.Node != second && op.Time > did[1].Time && op.Time < did[3].Time
	})
	require.True(t, next, "who is taken out leads no more")

	actions, err := nemesis.ActionsOf(r.History)
	require.NoError(t, err)
	p.Schedule, p.Recorded = nil, actions
	again, repeated, _ := reseated(t, p)
	require.Equal(t, as(asked), as(repeated))
	require.NoError(t, Same(r.History, again.History))
}

// Without a majority nobody is taken out, and nobody knows whether one will be; what could not be healed is healed when it can.
func TestMembersAreChangedInVain(t *testing.T) {
	r, _, did := reseated(t, record.Plan{Nodes: 3, Time: 30 * time.Second, Seed: 4, Schedule: nemesis.Schedule{
		{At: 3 * time.Second, Fault: "remove-member", Nodes: []string{"n3"}, For: 5 * time.Second},
		{At: 5 * time.Second, Fault: "kill", Nodes: []string{"n1"}, For: 10 * time.Second},
	}})
	require.Equal(t, record.StatusHeld, r.Status)
	require.Greater(t, len(did), 2, "of two that are left one is down")
	require.Equal(t, history.OK, did[0].Type)
	for _, op := range did[1 : len(did)-1] {
		require.NotEqual(t, history.OK, op.Type)
		require.NotEmpty(t, op.Error)
	}
	require.Equal(t, history.OK, did[len(did)-1].Type)

	// Whoever another fault keeps down comes back once that is over.
	_, _, did = reseated(t, record.Plan{Nodes: 5, Time: 30 * time.Second, Seed: 4, Schedule: nemesis.Schedule{
		{At: 3 * time.Second, Fault: "remove-member", Nodes: []string{"n3"}, For: 5 * time.Second},
		{At: 5 * time.Second, Fault: "kill", Nodes: []string{"n3"}, For: 10 * time.Second},
	}})
	require.Equal(t, history.Fail, did[1].Type)
	require.Equal(t, "n3 cannot come back while another fault keeps its process", did[1].Error)
	require.Equal(t, history.OK, did[len(did)-1].Type)
	require.Greater(t, did[len(did)-1].Time, 15*time.Second)
}

// The last thing that a run does is to make its cluster whole, members included.
func TestMembersAreHealedAtTheEnd(t *testing.T) {
	_, _, did := reseated(t, record.Plan{Nodes: 3, Time: 10 * time.Second, Seed: 4, Schedule: nemesis.Schedule{
		{At: 3 * time.Second, Fault: "remove-member", Nodes: []string{"n3"}},
		{At: 5 * time.Second, Fault: "isolate", Nodes: []string{"n2"}},
	}})
	require.Equal(t, history.Heal, did[len(did)-1].F)
	require.Equal(t, history.OK, did[len(did)-1].Type)
}

func TestWhoCannotChangeItsMembers(t *testing.T) {
	p := record.Plan{Target: "raft", On: record.OnSim, Schedule: nemesis.Schedule{{Fault: "remove-member"}}}
	err := Check(p)
	require.ErrorContains(t, err, "raft cannot be asked to change its members")
	require.NotEmpty(t, hint.Of(err))
	p.Target = "etcd-raft"
	require.NoError(t, Check(p))
	p.On = record.OnDocker
	require.ErrorContains(t, Check(p), "in containers, only in simulation")
	for on, can := range map[string]map[string]bool{
		record.OnSim:     {"raft": false, "etcd-raft": true},
		record.OnVirtual: {"etcd": true, "hashicorp-raft": true, "nats": false},
		record.OnDocker:  {"etcd": true, "zookeeper": false, "etcd-raft": false},
	} {
		for target, can := range can {
			require.Equal(t, can, slices.Contains(Drawn(target, nil, on), "remove-member"), "%s on %s", target, on)
		}
	}
}

// Who is promoted while it is cut off is a voter from then on, though it cannot know.
func TestWhoIsPromotedNeedNotSaySo(t *testing.T) {
	_, asked, did := reseated(t, record.Plan{Nodes: 3, Time: 40 * time.Second, Seed: 4, Schedule: nemesis.Schedule{
		{At: 500 * time.Millisecond, Fault: "replace-member", Nodes: []string{"n3"}, For: 12 * time.Second},
		{At: 8 * time.Second, Fault: "isolate", Nodes: []string{"n3"}, For: 17 * time.Second},
	}})
	require.Equal(t, []history.Type{history.OK, history.OK}, types(did))
	require.Equal(t, []history.Member{
		{Node: "n3", As: history.Removed}, {Node: "n3", As: history.Learner}, {Node: "n3", As: history.Voter},
	}, as(asked))
	require.Less(t, did[1].Time, 25*time.Second, "it is cut off yet")
}

// Who is added to a cluster without learners votes at once: it cannot be replaced by one.
func TestWhoHasNoLearners(t *testing.T) {
	p := record.Plan{
		Target: "etcd-raft-server", Options: map[string]string{"version": "3.2.32"}, On: record.OnVirtual, Nodes: 3,
		Schedule: nemesis.Schedule{{Fault: "replace-member", For: time.Second}},
	}
	err := Check(p)
	require.ErrorContains(t, err, "replace-member: etcd-raft-server has no learners")
	require.Contains(t, hint.Of(err), "remove-member")
	p.Schedule[0].Fault = "remove-member"
	require.NoError(t, Check(p))
}
