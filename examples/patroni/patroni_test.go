// Package patroni tests PostgreSQL under Patroni: the largest of the servers that are described by a file alone.
package patroni_test

import (
	"flag"
	"testing"

	"recount/checkers"
	"recount/recounttest"
)

var heavy = flag.Bool("heavy", false, "make runs that take minutes, and images of hundreds of megabytes")

func TestMain(m *testing.M) { recounttest.Main(m) }

// An agent that stands still leaves a primary that nobody has told of the next.
func TestTheAgentOfThePrimaryStandsStill(t *testing.T) {
	if !*heavy {
		t.Skip("make examples runs it: it takes minutes")
	}
	recounttest.Run(t, "election.yaml", "agent-paused.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Expect("exclusive-leadership", checkers.Invalid))
}
