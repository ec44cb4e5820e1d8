// Package river tests an election of River's clients, with the lease of an old version and with that of a later one.
package river_test

import (
	"testing"

	"recount/checkers"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

// A lease that is over when it is renewed is another client's now and then, while its leader still takes it for its own.
func TestALeaseThatIsOverWhenItIsRenewed(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "slow.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Set("version", "0.0.20"), recounttest.Expect("exclusive-leadership", checkers.Invalid))
}

func TestALeaseThatLastsLonger(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "slow.yaml", recounttest.OnDocker(), recounttest.Attempts(2),
		recounttest.Set("version", "0.0.22"), recounttest.Expect("exclusive-leadership", checkers.Valid))
}
