package main_test

import (
	"testing"

	"recount/checkers"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// Nodes that reach nobody elect themselves, all in one term, when a majority of those that answer is enough.
func TestMajorityOfThoseThatAnswer(t *testing.T) {
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnDocker(), recounttest.Attempts(3),
		recounttest.Set("quorum", "answering"), recounttest.Expect("single-leader-per-term", checkers.Invalid))
}

// With a majority of all, the same faults do no harm, not even to what leaders write.
func TestMajorityOfAll(t *testing.T) {
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnDocker(), recounttest.Attempts(3),
		recounttest.Set("quorum", "all"), recounttest.Workloads("fence"), recounttest.Require("fencing"))
}

// The same in virtual time: each seed gives one run, so one attempt is enough.
func TestMajorityOfThoseThatAnswerInVirtualTime(t *testing.T) {
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnVirtual(), recounttest.Seeds(1, 2, 3),
		recounttest.Set("quorum", "answering"), recounttest.Expect("single-leader-per-term", checkers.Invalid))
}

func TestMajorityOfAllInVirtualTime(t *testing.T) {
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnVirtual(), recounttest.Seeds(1, 2, 3), recounttest.Set("quorum", "all"))
}
