package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// A node that has to be opened after each start, by a key that another has drawn, answers again once it was killed.
func TestANodeIsOpenedEachTimeThatItWasStartedOnContainers(t *testing.T) {
	scenario := filepath.Join(t.TempDir(), "killed.yaml")
	require.NoError(t, os.WriteFile(scenario, []byte("nodes: 3\ntime: 5s\nschedule: [{at: 1s, fault: kill, nodes: [n2], for: 1s}]\n"), 0o600))
	shows(t, func(r *result) string {
		healed := false
		for _, op := range stored(t, r).Ops {
			healed = healed || op.Process == history.Nemesis && op.F == history.Heal
			if healed && op.F == history.Observe && op.Type == history.OK && op.Node == "n2" {
				return ""
			}
		}
		return "an answer of n2 after it was killed"
	}, scenario, "--target", "../harness/testdata/sealed/election.yaml", "--seed", "1")
}
