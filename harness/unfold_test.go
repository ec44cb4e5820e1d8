package harness

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

// A run in virtual time that left nothing on disk is kept with its nodes' logs and messages, if it comes again.
func TestWhatIsKeptHasLogsAndMessages(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the server asks an amd64 for its time")
	}
	for target, again := range map[string]bool{"hunt/testdata/server/simple.yaml": true, "testdata/dice/election.yaml": false} {
		options := map[string]string{"bug": "none"}
		if !again {
			options = map[string]string{"dice": "true"}
		}
		r, err := Simulate(t.Context(), record.Plan{Target: target, Nodes: 3, On: record.OnVirtual, Seed: 1, Time: 5 * time.Second, Options: options})
		require.NoError(t, err)
		results := t.TempDir()
		require.NoError(t, Keep(r, results))
		require.NoError(t, record.Save(r))
		stored, err := record.Read(r.Dir)
		require.NoError(t, err)
		require.NoError(t, Same(r.History, stored.History), target)
		messages := 0
		err = record.EachMessage(os.DirFS(r.Dir), func(*record.Message) { messages++ })
		left, globbed := filepath.Glob(filepath.Join(filepath.Dir(r.Dir), record.Scratch+"*"))
		require.NoError(t, globbed)
		require.Empty(t, left)
		if !again {
			require.ErrorIs(t, err, fs.ErrNotExist)
			require.NoDirExists(t, filepath.Join(r.Dir, "nodes"))
			require.Contains(t, r.Notes, "the nodes' logs and messages are missing: the run of seed 1 was another when it was made again")
			continue
		}
		require.NoError(t, err)
		require.Positive(t, messages)
		require.FileExists(t, filepath.Join(r.Dir, "nodes", "n1.log"))
		require.Empty(t, r.Notes)
	}
}
