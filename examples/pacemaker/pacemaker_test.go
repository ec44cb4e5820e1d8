// Package pacemaker tests the election of Pacemaker's designated controller, which takes no majority.
package pacemaker_test

import (
	"testing"

	"recount/checkers"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// Each side of a partition has a controller.
func TestEachSideHasAController(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Expect("exclusive-leadership", checkers.Invalid))
}
