//go:build linux

package agent

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// A part that has no process, or one that is another's as well, is told without anything being stopped.
func TestPartsThatCannotBeToldApart(t *testing.T) {
	network, err := inode("/proc/self/ns/net")
	require.NoError(t, err)
	apart := func(patterns map[string]string) error {
		compiled, err := compileParts(patterns)
		require.NoError(t, err)
		a := &agent{parts: compiled, places: map[string]*place{"n1": {procs: []first{openFirst(os.Getpid(), network)}}}}
		return a.tellApart("n1")
	}
	require.NoError(t, apart(nil))
	require.NoError(t, apart(map[string]string{"test": regexp.QuoteMeta(os.Args[0])}))
	require.ErrorContains(t, apart(map[string]string{"none": "^nothing is called so$"}), `n1/none: no process matches "^nothing is called so$"`)
	require.ErrorContains(t, apart(map[string]string{"one": regexp.QuoteMeta(os.Args[0]), "two": regexp.QuoteMeta(os.Args[0])}),
		"belongs to each of one, two: let their patterns match less")
}

// A watchdog may kill a part that stands still, and the heal may come before it is born again.
func TestHealOfAPartThatIsGone(t *testing.T) {
	patterns, err := compileParts(map[string]string{"server": "^server", "watchdog": "^watchdog"})
	require.NoError(t, err)
	p := &place{parts: unwell{held: map[string]stopped{"server": {}, "watchdog": {}}}}
	a := &agent{parts: patterns, places: map[string]*place{"n1": p}}
	part := history.Part{Node: "n1", Process: "server", State: history.Up}
	require.NoError(t, a.hold(part))
	require.Equal(t, map[string]stopped{"watchdog": {}}, p.parts.held, "it is continued with its node from now on")
	part.State = history.Paused
	require.ErrorContains(t, a.hold(part), "no process matches")
	require.Equal(t, map[string]stopped{"watchdog": {}}, p.parts.held)
}

// Nothing waits for a look at a part that does not end: here, a process that nobody ends.
func TestALookAtAPartThatIsToBeDownHoldsUpNobody(t *testing.T) {
	network, err := inode("/proc/self/ns/net")
	require.NoError(t, err)
	patterns, err := compileParts(map[string]string{"test": regexp.QuoteMeta(os.Args[0])})
	require.NoError(t, err)
	a := &agent{parts: patterns, places: map[string]*place{"n1": {procs: []first{openFirst(os.Getpid(), network)}}}}
	done := make(chan bool)
	go func() {
		down, _ := a.down(history.Part{Node: "n1", Process: "test", State: history.Down})
		done <- down
	}()
	for locked := 0; ; locked++ {
		select {
		case down := <-done:
			require.False(t, down)
			require.Greater(t, locked, 3)
			return
		default:
			a.mu.Lock()
			a.mu.Unlock() //nolint:staticcheck // only whether it can be had
			time.Sleep(lookEvery)
		}
	}
}
