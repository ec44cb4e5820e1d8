// Package rabbitmq tests a quorum queue of RabbitMQ: a Raft in Erlang, of nodes that are to find each other before there is a queue.
package rabbitmq_test

import (
	"testing"

	"recount/checkers"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// A leader that is cut off does not step down, and leads beside the one that the others elect; no term has two.
func TestALeaderThatIsCutOffLeadsOn(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Expect("exclusive-leadership", checkers.Invalid), recounttest.Require("single-leader-per-term"))
}
