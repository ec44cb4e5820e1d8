package main_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// build makes the static executable that the spec names.
func build(t *testing.T) {
	cmd := exec.Command("go", "build", "-trimpath", "-o", "server", ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// Nodes that reach nobody elect themselves, all in one term, when a majority of those that answer is enough.
func TestMajorityOfThoseThatAnswer(t *testing.T) {
	build(t)
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnDocker(), recounttest.Attempts(3),
		recounttest.Set("quorum", "answering"), recounttest.Expect("single-leader-per-term", checkers.Invalid))
}

// With a majority of all, the same faults do no harm, not even to what leaders write.
func TestMajorityOfAll(t *testing.T) {
	build(t)
	recounttest.Run(t, "election.yaml", "apart.yaml", recounttest.OnDocker(), recounttest.Attempts(3),
		recounttest.Set("quorum", "all"), recounttest.Workloads("fence"), recounttest.Require("fencing"))
}
