package docker

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// What a node reads off its interfaces no filter keeps from it: of a link to it that is cut nobody knows whether that took effect, and one of a link from
// it is.
func TestANodeThatReadsBeforeAnyFilter(t *testing.T) {
	c := open(t, engine(t), runID(t), 3)
	launch(t, c)
	require.Equal(t, "ok", tell(t, c, "n2", "tap"))
	requireSeen(t, c, links(link("n2", "n1", true)))
	requireSeen(t, c, links(link("n2", "n1", false)))
	e := apply(t, c, links(link("n1", "n2", true), link("n3", "n2", true), link("n2", "n3", true)))
	require.Equal(t, history.Info, e.Seen)
	require.ErrorContains(t, e.Err, "links into n2: packets are read there by a packet socket")
	require.Equal(t, links(link("n2", "n3", true)), e.Found)
	require.Equal(t, 1, strings.Count(e.Err.Error(), "packet socket"), "it is told once of all links")
	requireSeen(t, c, links(link("n1", "n2", false), link("n3", "n2", false), link("n2", "n3", false)))
}
