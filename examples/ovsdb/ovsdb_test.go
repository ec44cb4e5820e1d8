// Package ovsdb tests Open vSwitch's clustered database: a Raft in C, without pre-vote.
package ovsdb_test

import (
	"testing"

	"recount/checkers"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// A follower that was cut off comes back with a higher term, and the leader has to go though it never lost its majority.
func TestAFollowerThatReturnsDeposesTheLeader(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "returns.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Expect("sticky-leader", checkers.Invalid))
}

// Servers that die and come back with what they had written win no term twice.
func TestServersThatDieKeepTheirVotes(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "", recounttest.OnDocker(), recounttest.Attempts(2), recounttest.Faults("kill"),
		recounttest.Require("single-leader-per-term", "elects"))
}
