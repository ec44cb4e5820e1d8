package harness

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

// A run that is made twice is the same, and where it is not, the first event that differs is named, with the goroutine's stack.
func TestTwice(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the server asks an amd64 for its time")
	}
	p := record.Plan{
		Target: "testdata/dice/election.yaml", Nodes: 3, On: record.OnVirtual, Seed: 1, Time: 5 * time.Second,
		Options: map[string]string{"dice": "false"},
	}
	r, err := Glance(t.Context(), p)
	require.NoError(t, err)
	require.NotEmpty(t, r.Events)
	require.NoError(t, Twice(t.Context(), r))

	p.Options = map[string]string{"dice": "true"}
	r, err = Glance(t.Context(), p)
	require.NoError(t, err)
	err = Twice(t.Context(), r)
	require.ErrorContains(t, err, "the run of seed 1 was another when it was made again")
	require.ErrorContains(t, err, "of n2's scheduler")
	require.ErrorContains(t, err, "main.main.func1", "the stack of the goroutine that threw")
	t.Log(err)
}

// What was cut short is not compared, nor what is not in virtual time.
func TestTwiceLeavesAlone(t *testing.T) {
	r, err := Simulate(t.Context(), record.Plan{Target: "bully", Nodes: 3, Seed: 1, Time: 5 * time.Second})
	require.NoError(t, err)
	r.Events = "another"
	require.NoError(t, Twice(t.Context(), r))
}
