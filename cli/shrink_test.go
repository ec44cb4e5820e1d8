package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

// What nobody limits is shrunk to the end in simulation, however long that takes.
func TestNothingCutsShrinkingShortInSimulation(t *testing.T) {
	how := shrinkFlags{need: 2, of: 3}
	bar := &progress{}
	sim := how.config(record.OnSim, nil, bar)
	require.Zero(t, sim.Budget)
	require.Zero(t, sim.Runs)
	require.Equal(t, 5*time.Minute, how.config(record.OnVirtual, nil, bar).Budget)
	require.Equal(t, 30*time.Minute, how.config(record.OnDocker, nil, bar).Budget)
}
