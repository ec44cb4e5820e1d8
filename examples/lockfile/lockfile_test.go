// Package lockfile tests an election by a lock in a folder that all nodes share.
package lockfile_test

import (
	"testing"

	"recount/checkers"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

func TestNobodyTakesTheKernelsLockFromWhoStandsStill(t *testing.T) {
	recounttest.Run(t, "election.yaml", "stands-still.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Expect("elects", checkers.Invalid), recounttest.Expect("exclusive-leadership", checkers.Valid),
		recounttest.Expect("single-leader-per-term", checkers.Valid))
}

func TestALeaseIsTakenFromWhoStandsStill(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "stands-still.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Set("by", "lease"), recounttest.Workloads("record"),
		recounttest.Expect("elects", checkers.Valid), recounttest.Expect("fencing", checkers.Invalid))
}
