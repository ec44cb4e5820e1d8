// Package python tests an election in Python, whose members tell the time by the wall clock or by the monotonic one.
package python_test

import (
	"testing"

	"recount/checkers"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

func TestLeasesByTheMonotonicClock(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "clock.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Expect("exclusive-leadership", checkers.Valid))
}

func TestLeasesByTheWallClock(t *testing.T) {
	recounttest.Run(t, "election.yaml", "clock.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Set("clock", "wall"), recounttest.Expect("exclusive-leadership", checkers.Invalid))
}
