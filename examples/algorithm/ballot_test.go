package algorithm_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	_ "recount/examples/algorithm" // registers the target
	"recount/harness/record"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) } // for TestOnContainers

// What the election promises it keeps, whatever is done to it.
func TestBallot(t *testing.T) {
	recounttest.Run(t, "ballot", "ping-pong")
	recounttest.Run(t, "ballot", "", recounttest.Seeds(1, 2, 3, 4, 5),
		recounttest.Faults("isolate", "halves", "kill", "pause", "cut-link"), recounttest.For(time.Minute))
}

// Votes that are kept in memory alone are given twice: two leaders in one term. The scenario expects it; with votes on
// disk, the same faults do no harm.
func TestForgottenVote(t *testing.T) {
	recounttest.Run(t, "ballot", "forgotten-vote.yaml")
	r := recounttest.Run(t, "ballot", "forgotten-vote.yaml", recounttest.Set("remember", "true"),
		recounttest.Expect("single-leader-per-term", checkers.Valid))
	require.Equal(t, record.StatusHeld, r.Status)
}

// The same code in containers, over real sockets and disks.
func TestOnContainers(t *testing.T) {
	recounttest.Run(t, "ballot", "", recounttest.OnDocker(), recounttest.Attempts(3), recounttest.Nodes(3),
		recounttest.Faults("isolate", "kill"), recounttest.For(12*time.Second))
}
