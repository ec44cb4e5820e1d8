package main_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// Nodes that reach nobody elect themselves, all in one term, when a majority of those that answer is enough.
func TestMajorityOfThoseThatAnswer(t *testing.T) {
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnDocker(), recounttest.Attempts(3),
		recounttest.Set("quorum", "answering"), recounttest.Expect("single-leader-per-term", checkers.Invalid))
}

// With a majority of all, the same faults do no harm, not even to what leaders write.
func TestMajorityOfAll(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnDocker(), recounttest.Attempts(3),
		recounttest.Set("quorum", "all"), recounttest.Workloads("fence"), recounttest.Require("fencing"))
}

// The same in virtual time: each seed gives one run, so one attempt is enough.
func TestMajorityOfThoseThatAnswerInVirtualTime(t *testing.T) {
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnVirtual(), recounttest.Seeds(1, 2, 3),
		recounttest.Set("quorum", "answering"), recounttest.Expect("single-leader-per-term", checkers.Invalid))
}

func TestMajorityOfAllInVirtualTime(t *testing.T) {
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnVirtual(), recounttest.Seeds(1, 2, 3),
		recounttest.Set("quorum", "all"), recounttest.Workloads("fence"), recounttest.Require("fencing"))
}

// A leader that stood still writes once more with its old term. Only a fence turns that away.
func TestAPausedLeaderWritesInVirtualTime(t *testing.T) {
	recounttest.Run(t, "election.yaml", "paused.yaml", recounttest.OnVirtual(), recounttest.Expect("fencing", checkers.Invalid))
	recounttest.Run(t, "election.yaml", "paused.yaml", recounttest.OnVirtual(), recounttest.Workloads("fence"), recounttest.Require("fencing"))
}

// Not only the history is the same: each of the nodes has done the same at each instant.
func TestARunInVirtualTimeIsTheSameAgain(t *testing.T) {
	again := func() *record.Run {
		return recounttest.Run(t, "election.yaml", "paused.yaml", recounttest.OnVirtual(), recounttest.Seeds(7),
			recounttest.Expect("fencing", checkers.Invalid))
	}
	a, b := again(), again()
	require.NotEmpty(t, a.Events)
	require.Equal(t, a.Events, b.Events)
	require.Equal(t, a.History.Ops, b.History.Ops)

	// Nor does it matter that somebody listens to what the nodes send each other, which is the same each time, too.
	unheard, err := harness.Simulate(t.Context(), a.Plan)
	require.NoError(t, err)
	require.Equal(t, a.Events, unheard.Events)
	require.Equal(t, a.History.Ops, unheard.History.Ops)
	messages := func() (all []record.Message) {
		r, err := harness.Run(t.Context(), a.Plan, harness.Config{Results: t.TempDir()})
		require.NoError(t, err)
		require.Equal(t, a.Events, r.Events)
		require.NoError(t, record.EachMessage(os.DirFS(r.Dir), func(m *record.Message) { all = append(all, *m) }))
		return all
	}
	heard := messages()
	require.NotEmpty(t, heard)
	require.Equal(t, heard, messages())
}

// Who comes back is another member, which the others know by another id; what was taken out neither votes nor leads.
func TestMembersAreReplacedInVirtualTime(t *testing.T) {
	r := recounttest.Run(t, "election.yaml", "replaced.yaml", recounttest.OnVirtual(), recounttest.Seeds(1),
		recounttest.Require("single-leader-per-term", "fencing"))
	var are []history.Member
	for _, op := range r.History.Ops {
		if op.F == history.Reconfigure && op.Type == history.OK {
			are = append(are, *op.Value.(*history.Member))
		}
	}
	require.Len(t, are, 5)
	first, second := are[0].Node, are[3].Node
	require.Equal(t, []history.Member{
		{Node: first, As: history.Removed}, {Node: first, As: history.Learner}, {Node: first, As: history.Voter},
		{Node: second, As: history.Removed}, {Node: second, As: history.Voter},
	}, are)
}
