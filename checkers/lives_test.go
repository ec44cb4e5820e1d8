package checkers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestEndsAtTheInstantOfAKill has a process end by itself while it is being killed, all at one instant: of neither end is there any doubt.
func TestEndsAtTheInstantOfAKill(t *testing.T) {
	w := watched{deaths: []death{{span{time.Second, never}, never, -1, true}}}
	then := span{time.Second, time.Second}
	w.dies(then, 7, true)
	w.settles(time.Second)
	w.dies(then, 8, false)
	require.Equal(t, []death{{then, never, 8, false}, {then, never, 7, false}}, w.deaths)
	w.dies(then, 9, false) // as another member than it was, by the same op
	require.Len(t, w.deaths, 2)
}
