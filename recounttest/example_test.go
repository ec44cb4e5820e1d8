package recounttest_test

import (
	"testing"
	"time"

	"recount/checkers"
	"recount/recounttest"
)

// A scenario that Recount knows, on an election that is built in. The election's own promises decide.
func ExampleRun() {
	example(func(t *testing.T) { // func TestReturningFollower(t *testing.T) {
		recounttest.Run(t, "raft-prevote", "non-sticky-leader")
	})
}

// Faults drawn by the seed: each seed is a subtest.
func ExampleRun_faults() {
	example(func(t *testing.T) {
		recounttest.Run(t, "raft-prevote", "", recounttest.Faults("isolate", "cut-link", "kill"),
			recounttest.Nodes(3), recounttest.For(20*time.Second), recounttest.Workloads("fence"),
			recounttest.Require("no-ping-pong"), recounttest.Seeds(1, 2))
	})
}

// A test that shows a weakness expects it: it fails when the weakness is gone.
func ExampleExpect() {
	example(func(t *testing.T) {
		recounttest.Run(t, "raft", "non-sticky-leader", recounttest.Expect("sticky-leader", checkers.Invalid))
	})
}
