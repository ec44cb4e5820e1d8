package harness

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/virtual"
)

// What the engine cannot remove in the end takes nothing from what was seen before.
func TestWhatIsLeftInTheEngineIsNoted(t *testing.T) {
	left := hint.Add(errors.New("remove recount-x-net: it has active endpoints"), "restarting it helps")
	of := func(on string) *run {
		return &run{subject: &subject{Plan: record.Plan{On: on}}, Config: Config{Progress: func(string) {}}}
	}
	r := of(record.OnDocker)
	require.NoError(t, r.closed(nil, nil))
	require.Empty(t, r.told)
	require.NoError(t, r.closed(nil, left))
	require.Len(t, r.told, 1)
	require.Contains(t, r.told[0], "recount clean")
	require.Contains(t, r.told[0], "remove recount-x-net: it has active endpoints")
	failed := errors.New("the agent is gone")
	require.ErrorIs(t, r.closed(failed, left), failed, "a run that was not made")
	require.ErrorIs(t, r.closed(failed, left), left)
	require.ErrorIs(t, of(record.OnVirtual).closed(nil, left), left)
}

// lasting is an observer that counts how often it was closed.
type lasting struct {
	election.Observer
	closed *int
}

func (l lasting) Close() error { *l.closed++; return nil }

func TestAClusterInVirtualTimeIsClosedTwice(t *testing.T) {
	of, err := virtual.Open(virtual.Config{Nodes: []string{"n1"}, Seed: 1})
	require.NoError(t, err)
	closed := 0
	c := &virtualized{Cluster: of, asked: map[string]*systemNode{"n1": {Observer: lasting{closed: &closed}}}}
	require.NoError(t, c.Close(t.Context()))
	require.NoError(t, c.Close(t.Context()))
	require.Equal(t, 1, closed)
}
