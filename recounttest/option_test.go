package recounttest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/internal/hint"
)

// An option that names nothing, as a list that came out empty, is no run without what it is about.
func TestOptionsThatNameNothing(t *testing.T) {
	var none []string
	for want, o := range map[string]Option{
		"Faults names nothing": Faults(none...), "Workloads names nothing": Workloads(), "Require names nothing": Require(none...),
		"Seeds has none, so there would be no run": Seeds(),
	} {
		var c config
		o(&c)
		_, err := c.plans("raft", "")
		require.EqualError(t, err, want)
		require.NotEmpty(t, hint.Of(err), want)
	}
}

func TestNoVerdictIsExpectedThatThereIsNot(t *testing.T) {
	var c config
	Expect("elects", checkers.Verdict(77))(&c)
	_, err := c.plans("raft", "ping-pong")
	require.EqualError(t, err, "expect elects: there is no verdict number 77")
}
