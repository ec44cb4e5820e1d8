// Package patroni tests PostgreSQL under Patroni: the largest of the servers that are described by a file alone.
package patroni_test

import (
	"testing"

	"recount/checkers"
	"recount/internal/testlong"
	"recount/recounttest"
	_ "recount/targets/builtin" // the spec has a service that is one of them
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// An agent that stands still leaves a primary that nobody has told of the next.
func TestTheAgentOfThePrimaryStandsStill(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "agent-paused.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Expect("exclusive-leadership", checkers.Invalid))
}

// A database that dies whenever its agent starts it is one no more: another is the primary soon.
func TestTheDatabaseOfThePrimaryIsKilled(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "database-killed.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Expect("exclusive-leadership", checkers.Valid), recounttest.Expect("elects", checkers.Valid))
}
