// Package ceph tests Ceph's monitors, which elect by rank, or by who is connected best.
package ceph_test

import (
	"testing"

	"recount/checkers"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// By connectivity, a monitor that two others reach which do not reach each other is in the quorum of both: one epoch has two winners.
func TestByConnectivityOneEpochHasTwoWinners(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "cut.yaml", recounttest.OnDocker(), recounttest.Attempts(3),
		recounttest.Set("strategy", "connectivity"), recounttest.Expect("single-leader-per-term", checkers.Invalid))
}

// By rank one of the two is always the better candidate.
func TestByRankItHasOne(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "cut.yaml", recounttest.OnDocker(), recounttest.Attempts(2), recounttest.Require("single-leader-per-term"))
}
