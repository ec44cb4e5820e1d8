// Package pgpool tests the watchdog of pgpool-II, whose leader has an address.
package pgpool_test

import (
	"testing"

	"recount/checkers"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// A leader that is cut off gives the address away before another takes it.
func TestTheAddressMoves(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Require("exclusive-leadership"))
}

// Of a leader that stands still nobody takes the address away.
func TestTheAddressIsInTwoPlaces(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "paused.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Expect("exclusive-leadership", checkers.Invalid))
}
