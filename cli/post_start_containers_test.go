package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// A node that has to be opened after each start, by a key that another has drawn, answers again once it was killed. Another has a fault of
// its own, and answers nothing while it lasts. One that ends over such a fault is started with the healing.
func TestANodeIsOpenedEachTimeThatItWasStartedOnContainers(t *testing.T) {
	scenario := filepath.Join(t.TempDir(), "killed.yaml")
	require.NoError(t, os.WriteFile(scenario, []byte("nodes: 3\ntime: 9s\nschedule: [{at: 1s, fault: kill, nodes: [n2], for: 1s}, "+
		"{at: 3s, fault: own, nodes: [n3], with: {name: mute}, for: 2s}, "+
		"{at: 6s, fault: own, nodes: [n2], with: {name: end}, for: 1s}]\n"), 0o600))
	shows(t, func(r *result) string {
		heals, mute, answered, silent := 0, false, map[int]bool{}, 0
		for _, op := range stored(t, r).Ops {
			if op.Process == history.Nemesis && op.Type != history.Invoke {
				require.Equal(t, history.OK, op.Type, "%s %s: %s", op.F, op.Fault.Title(), op.Error)
				mute = op.F == history.Inject && op.Fault.Title() == "mute n3"
				if op.F == history.Heal {
					heals++
				}
			}
			if op.F == history.Observe && op.Type == history.OK && op.Node == "n2" {
				answered[heals] = true
			}
			if mute && op.F == history.Observe && op.Type == history.Fail && op.Node == "n3" {
				silent++
			}
		}
		switch {
		case !answered[1]:
			return "an answer of n2 after it was killed"
		case !answered[3]:
			return "an answer of n2 after it ended"
		case silent < 5:
			return "that n3 was mute"
		}
		return ""
	}, scenario, "--target", "../harness/testdata/sealed/election.yaml", "--seed", "1")
}
