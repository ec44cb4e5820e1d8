package shrink

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/nemesis"
)

// A line tells which faults there are as long as there are few.
func TestFaultsInAFewWords(t *testing.T) {
	var p record.Plan
	require.Equal(t, "no fault", Faults(p))
	for i := range mostNamed + 1 {
		p.Schedule = append(p.Schedule, nemesis.Step{Fault: "f" + strconv.Itoa(i)})
	}
	require.Equal(t, "9 faults of 9 kinds", Faults(p))
	p.Schedule = p.Schedule[:2]
	require.Equal(t, "2 faults (f0, f1)", Faults(p))
}
