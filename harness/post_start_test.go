package harness

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/nemesis"
)

// Nodes that have to be opened after each start, by a key that one of them draws, are: at first, and where a fault has ended one.
func TestNodesAreToldEachTimeThatTheyWereStarted(t *testing.T) {
	r, err := Simulate(t.Context(), record.Plan{
		Target: "testdata/sealed/election.yaml", On: record.OnVirtual, Nodes: 3, Time: 5 * time.Second, Seed: 1,
		Schedule: nemesis.Schedule{{At: time.Second, Fault: "kill", Nodes: nemesis.Named{"n2"}, For: time.Second}},
	})
	require.NoError(t, err)
	require.Empty(t, r.Unread)
	again := false
	for _, op := range r.History.Ops {
		again = again || op.Process == history.Nemesis && op.F == history.Heal
		if again && op.F == history.Observe && op.Type == history.OK && op.Node == "n2" {
			return
		}
	}
	t.Fatal("n2 was never opened again")
}

func TestANodeThatIsToldInVain(t *testing.T) {
	_, err := Simulate(t.Context(), record.Plan{
		Target: "testdata/sealed/election.yaml", Options: map[string]string{"open": "/unseal"}, On: record.OnVirtual, Nodes: 3, Time: 3 * time.Second, Seed: 1,
	})
	require.ErrorContains(t, err, "n1 is not ready after 5s: post-start: ask n1: it refused: 404 Not Found")
	require.Contains(t, hint.Of(err), "its server has no such path")
	var none *toldStarts
	require.Empty(t, none.words())
	require.Equal(t, "To the end post-start did not succeed on n2, n3: no.", (&toldStarts{want: map[string]error{"n3": errors.New("nor"), "n2": errors.New("no")}}).words())
}
