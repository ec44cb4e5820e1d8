package docker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// What a node reads off its interfaces no filter keeps from it: of a link to it that is cut nobody knows whether that took effect, and one of a link from
// it is.
func TestANodeThatReadsBeforeAnyFilter(t *testing.T) {
	c := open(t, engine(t), runID(t), 2)
	launch(t, c)
	require.Equal(t, "ok", tell(t, c, "n2", "tap"))
	requireSeen(t, c, links(link("n2", "n1", true)))
	requireSeen(t, c, links(link("n2", "n1", false)))
	e := apply(t, c, links(link("n1", "n2", true)))
	require.Equal(t, history.Info, e.Seen)
	require.ErrorContains(t, e.Err, "n1→n2: a process of n2 reads packets by a packet socket")
	requireSeen(t, c, links(link("n1", "n2", false)))
}
