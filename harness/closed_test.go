package harness

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/internal/hint"
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
