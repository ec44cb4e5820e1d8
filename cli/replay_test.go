package cli

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
)

// By its history a run is found with all that a replay by its folder knows.
func TestARunIsReadByItsHistory(t *testing.T) {
	h, err := history.New([]history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{Target: "mine.yaml", Nodes: []string{"n1"}}}})
	require.NoError(t, err)
	kept := &record.Run{Dir: t.TempDir(), DescribedBy: "/elsewhere/mine.yaml", Built: []string{"executable:1"}}
	require.NoError(t, record.Save(kept))
	require.NoError(t, record.WriteHistory(kept.Dir, h))
	for _, path := range []string{kept.Dir, filepath.Join(kept.Dir, record.HistoryFile)} {
		r, err := readRun(path)
		require.NoError(t, err)
		require.Equal(t, kept.DescribedBy, r.DescribedBy)
		require.Equal(t, kept.Built, r.Built)
	}
}
