//go:build linux

package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// A watchdog may kill a part that stands still, and the heal may come before it is born again.
func TestHealOfAPartThatIsGone(t *testing.T) {
	patterns, err := compileParts(map[string]string{"server": "^server", "watchdog": "^watchdog"})
	require.NoError(t, err)
	p := &place{held: map[string]stopped{"server": {}, "watchdog": {}}}
	a := &agent{parts: patterns, places: map[string]*place{"n1": p}}
	part := history.Part{Node: "n1", Process: "server", State: history.Up}
	require.NoError(t, a.hold(part))
	require.Equal(t, map[string]stopped{"watchdog": {}}, p.held, "it is continued with its node from now on")
	part.State = history.Paused
	require.ErrorContains(t, a.hold(part), "no process matches")
	require.Equal(t, map[string]stopped{"watchdog": {}}, p.held)
}
