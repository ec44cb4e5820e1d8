// Package ceph tests Ceph's monitors, which elect by rank, or by who is connected best.
package ceph_test

import (
	"testing"

	"recount/checkers"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// A monitor that two others reach, which do not reach each other, is in the quorum of both: one epoch has two winners.
func TestOneEpochHasTwoWinners(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "cut.yaml", recounttest.OnDocker(), recounttest.Attempts(3),
		recounttest.Set("strategy", "connectivity"), recounttest.Expect("single-leader-per-term", checkers.Invalid))
}
