package batch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNotesLeaveNothingBehind(t *testing.T) {
	root := t.TempDir()
	n := NewNotes(filepath.Join(root, "results", "hunt", "now"), Noted{Kind: "hunt", Name: "raft"})
	n.Note(Progress{Done: 1}, 0, 1)
	require.NoDirExists(t, filepath.Join(root, "results"), "work that takes no time notes nothing")
	for i := range 3 * mostNoted {
		n.last = time.Time{}
		n.Note(Progress{Done: i, Planned: 5000}, 2, 10+i)
	}
	b, err := os.ReadFile(filepath.Join(root, "results", "hunt", "now", NotesFile))
	require.NoError(t, err)
	var got Noted
	require.NoError(t, json.Unmarshal(b, &got))
	require.Equal(t, 3*mostNoted-1, got.Runs)
	require.LessOrEqual(t, len(got.Reached), mostNoted)
	require.Equal(t, Reached{0, 10}, got.Reached[0])
	n.End()
	require.NoDirExists(t, filepath.Join(root, "results"))
	require.DirExists(t, root)
}
