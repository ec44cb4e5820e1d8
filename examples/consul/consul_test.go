// Package consul tests Consul by a file alone, where it is checked out.
package consul_test

import (
	"os"
	"testing"

	"recount/internal/testlong"
	"recount/recounttest"
)

// A leader that removes nobody keeps the majority that it has.
func TestAMajorityThatFoundBackIsKept(t *testing.T) {
	testlong.Only(t)
	if _, err := os.Stat("source/go.mod"); err != nil {
		t.Skip("election.yaml says how Consul is checked out")
	}
	recounttest.Run(t, "election.yaml", "autopilot.yaml", recounttest.OnVirtual(), recounttest.Seeds(2, 4, 5),
		recounttest.Set("id", "given"), recounttest.Set("cleanup", "false"))
}
