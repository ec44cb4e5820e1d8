package nemesis

import (
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/internal/hint"
)

// A word may mean one process of a node, and the fault then leaves the node itself alone.
func TestAimsAtAPartOfANode(t *testing.T) {
	nodes := []string{"n1", "n2", "n3"}
	r := history.NewRecorder(io.Discard, 0)
	views := NewViews(nodes, r)
	views.view("n2", history.View{Role: history.Leader, Leader: "n2", Term: 1}, true)
	aims, err := views.resolve([]string{"leader/agent", "n3/database"}, "", history.States{}, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	require.Equal(t, [][]string{{"n2/agent"}, {"n3/database"}}, aims)

	c := procs([]string{"n2/agent", "n1"}, history.Paused)
	require.Equal(t, []history.Proc{{Node: "n1", State: history.Paused}}, c.Procs)
	require.Equal(t, []history.Part{{Node: "n2", Process: "agent", State: history.Paused}}, c.Parts())
	healed := history.States{}.From(history.Merge(c)).Changes()
	require.Equal(t, []history.Part{{Node: "n2", Process: "agent", State: history.Up}}, healed.Parts())

	pause := Step{Fault: "pause", Nodes: Named{"n1/agent"}, For: time.Second}
	require.NoError(t, Schedule{pause}.Check(nodes))
	require.NoError(t, Schedule{pause}.CheckParts([]string{"agent"}))
	require.NoError(t, Schedule{{Fault: "kill", Nodes: Named{"leader/agent"}}}.Check(nodes))
	for want, err := range map[string]error{
		`unknown process of a node "agent"`:      Schedule{pause}.CheckParts([]string{"agents"}),
		"nothing is known of a node's processes": Schedule{pause}.CheckParts(nil),
		"stop: n1/agent: it is of whole nodes":   Schedule{{Fault: "stop", Nodes: Named{"n1/agent"}}}.Check(nodes),
		`unknown node "n9"`:                      Schedule{{Fault: "pause", Nodes: Named{"n9/agent"}}}.Check(nodes),
	} {
		require.ErrorContains(t, err, want)
		require.NotEmpty(t, hint.Of(err))
	}
}
