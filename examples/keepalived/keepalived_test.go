// Package keepalived tests VRRP routers: an election by multicast, of a protocol that is neither TCP nor UDP.
package keepalived_test

import (
	"testing"

	"recount/checkers"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// Routers elect without a majority: one that is cut off keeps the address, and the others give it to another.
func TestTheAddressIsOnBothSides(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Expect("exclusive-leadership", checkers.Invalid))
}

// While they hear each other one of them has it: what they multicast arrives.
func TestTheAddressIsOnOneRouter(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "", recounttest.OnDocker(), recounttest.Attempts(2), recounttest.Require("exclusive-leadership"))
}
