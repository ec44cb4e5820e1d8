// Package zookeeper tests ZooKeeper by a file alone: voters and observers, heard by their logs.
package zookeeper_test

import (
	"testing"

	"recount/checkers"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// Three servers of five are no majority where two of them do not vote.
func TestObserversAreNoMajority(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "observers-apart.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Expect("elects", checkers.Valid))
}
