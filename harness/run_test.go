package harness

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

// A run that is killed in its middle leaves the one before it to be the latest.
func TestTheLatestRunIsOneThatIsOver(t *testing.T) {
	results := t.TempDir()
	p := record.Plan{Target: "raft", On: record.OnSim, Nodes: 3, Time: time.Second}
	s, err := resolve(p)
	require.NoError(t, err)
	r := &run{subject: s, Config: Config{Results: results, Progress: func(string) {}}}
	killed, err := r.open()
	require.NoError(t, err)
	require.NoError(t, r.record(t.Context(), killed.Dir))
	require.NoFileExists(t, filepath.Join(results, "latest"), "nobody has judged it yet")

	over, err := Run(t.Context(), p, Config{Results: results})
	require.NoError(t, err)
	latest, err := filepath.EvalSymlinks(filepath.Join(results, "latest"))
	require.NoError(t, err)
	want, err := filepath.EvalSymlinks(over.Dir)
	require.NoError(t, err)
	require.Equal(t, want, latest)
}
