package checkers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStrangersAreNoNodes has a fault pause somebody that the history does not know, and go on: it makes no node of it.
func TestStrangersAreNoNodes(t *testing.T) {
	h, err := parseHistory(`nodes n1 n2 n3
		0s n1 n2 n3 follower 1
		1s-1.1s nemesis inject pause n9: pause n9
		2s-2.1s nemesis heal pause n9: start n9
		9s end`)
	require.NoError(t, err)
	require.Equal(t, []string{"n1", "n2", "n3"}, gather(h).nodes)
}

// TestProcessEndsByItselfAsItIsKilled has a process end by itself at the very instant of a kill, between the beginning of that and its end:
// it is the kill that is known to have ended it then, and it comes last.
func TestProcessEndsByItselfAsItIsKilled(t *testing.T) {
	at := span{time.Second, time.Second}
	w := watched{deaths: []death{{at, time.Second, -1, true}, {at, never, 7, false}}}
	w.dies(at, 9, false)
	require.Equal(t, []death{{at, never, 7, false}, {at, time.Second, 9, false}}, w.deaths)
	w.deaths[0].to = never
	require.False(t, w.doomed(time.Second), "it is known to have come, though not when")
	w.deaths[0].perhaps = true
	require.True(t, w.doomed(time.Hour))
	w.deaths[0].to = 2 * time.Second
	require.True(t, w.doomed(2*time.Second), "it may have come as it was taken back")
	require.False(t, w.doomed(2*time.Second+1))
}
