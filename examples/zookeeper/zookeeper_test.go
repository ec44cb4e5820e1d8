// Package zookeeper tests ZooKeeper by a file alone: voters and observers, heard by their logs.
package zookeeper_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// Three servers of five are no majority where two of them do not vote.
func TestObserversAreNoMajority(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "observers-apart.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Expect("elects", checkers.Valid))
}

// Who starts slowly keeps nobody from leading, neither while it is down nor when it comes back.
func TestALeaderThatStartsAgainSlowly(t *testing.T) {
	testlong.Only(t)
	run := recounttest.Run(t, "election.yaml", "slow-start.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Expect("sticky-leader", checkers.Valid))
	died := first(t, run, func(op history.Op) bool { return op.F == history.Inject && op.Type == history.OK })
	slow := first(t, run, func(op history.Op) bool {
		return op.F == history.Announce && op.Node == died.Fault.Nodes[0] && op.Time > died.Time
	})
	require.Greater(t, slow.Time-died.Time, 5*time.Second, "a twentieth of a processor starts no server in Java sooner")
}

// Who is left too little memory is ended by the kernel, which nobody holds against it.
func TestALeaderThatIsLeftTooLittleMemory(t *testing.T) {
	testlong.Only(t)
	run := recounttest.Run(t, "election.yaml", "squeezed.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Expect("stays-up", checkers.Valid))
	exit := first(t, run, func(op history.Op) bool { return op.F == history.Exit })
	require.Contains(t, exit.Error, "for want of memory")
	first(t, run, func(op history.Op) bool {
		return op.F == history.Announce && op.Node != exit.Node && op.Time > exit.Time && op.View.Role == history.Leader
	})
	first(t, run, func(op history.Op) bool {
		return op.F == history.Announce && op.Node == exit.Node && op.Time > exit.Time && op.View.Role == history.Follower
	})
}

// first is the first op that is so.
func first(t *testing.T, run *record.Run, is func(history.Op) bool) history.Op {
	t.Helper()
	i := slices.IndexFunc(run.History.Ops, is)
	require.GreaterOrEqual(t, i, 0)
	return run.History.Ops[i]
}
