package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// Candidates that elect through a store can be hit, and so can the store, the link between the two, and the way to those who
// ask a candidate.
func TestCandidatesStoresAndClientsAreHitOnContainers(t *testing.T) {
	t.Parallel()
	_, api := program(t)
	r := shows(t, func(r *result) string {
		h := stored(t, r)
		done := map[string]history.Type{}
		lost := "" // to the clients
		var since time.Duration
		for i, op := range h.Ops {
			switch {
			case op.Process == history.Nemesis && op.Type != history.Invoke:
				done[string(op.F)+" "+op.Fault.Name] = op.Type
				if op.Fault.Name == "pause" && op.F == history.Inject {
					require.NotEqual(t, []string{"n1"}, op.Fault.Nodes, "the store is no candidate")
				}
				if op.Fault.Name == "cut-clients" {
					lost, since = "", op.Time
					if op.F == history.Inject && op.Type == history.OK {
						lost = op.Fault.Nodes[0]
					}
				}
			case op.F == history.Compare && op.Type != history.OK:
				return op.Error
			case op.Node == lost && op.F == history.Observe && op.Type == history.OK:
				require.Less(t, h.Ops[h.Other(i)].Time, since, "what is asked gets no answer")
			case op.Node == lost && op.F == history.Write:
				require.NotEqual(t, history.OK, op.Type, "what is written does not arrive")
			}
		}
		for _, fault := range []string{"pause", "kill", "cut-link", "cut-clients"} {
			if done["inject "+fault] != history.OK || done["heal "+fault] != history.OK {
				return fault
			}
		}
		return ""
	}, writeScenario(t, `
target: blob-lease
nodes: 4
time: 13s
workloads: [fence]
schedule:
  - {at: 500ms, fault: pause, nodes: [leader], for: 2500ms}
  - {at: 4s, fault: kill, nodes: [n1], for: 2s}
  - {at: 7500ms, fault: cut-link, nodes: [leader, n1], with: {ports: "7000"}, for: 2500ms}
  - {at: 11s, fault: cut-clients, nodes: [leader], for: 1500ms}
`))
	require.NotEqual(t, "invalid", r.verdict("single-leader-per-term"))
	require.NotEqual(t, "invalid", r.verdict("exclusive-leadership"))
	require.Empty(t, ownLeft(t, api, r.Run))
}
