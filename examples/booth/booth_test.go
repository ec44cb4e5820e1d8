// Package booth tests the ticket manager of Pacemaker's clusters, whose sites have a ticket by a lease.
package booth_test

import (
	"testing"

	"recount/checkers"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// A site that is cut off gives the ticket up before another takes it.
func TestTheTicketMoves(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Require("exclusive-leadership", "elects"))
}

// One whose clocks run too slow has it for longer than the others wait.
func TestTheTicketIsAtTwoSites(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "drift.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Expect("exclusive-leadership", checkers.Invalid))
}
