// Package ctdb tests ctdb, which elects by a lock that a helper holds, or without one by who hears whom.
package ctdb_test

import (
	"testing"

	"recount/checkers"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// Without a lock each side of a partition has a leader.
func TestEachSideHasALeader(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Set("keepalive", "1s"), recounttest.Set("timeout", "2s"), recounttest.Set("lock", "none"),
		recounttest.Expect("exclusive-leadership", checkers.Invalid))
}
