package campaign

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// With a store elsewhere all that people look at is there, too, and a machine that has nothing of it goes on from it.
func TestTheFolderIsCopiedToTheStore(t *testing.T) {
	dir := t.TempDir()
	st := opened(t, filepath.Join(dir, "store"))
	run := func(folder, runs string) (*Campaign, *Summary) {
		c := loaded(t, "targets: [{target: raft, property: sticky-leader}]\nfaults: [isolate]\nnodes: 3\ntime: 8s\nshard: 30\nseed: 3\nruns: "+runs)
		s, err := c.Run(t.Context(), Config{Store: st, Folder: filepath.Join(dir, folder), Jobs: 1, Copy: true})
		require.NoError(t, err)
		return c, s
	}
	c, first := run("one", "60")
	require.NotEmpty(t, first.Findings)
	copied := os.DirFS(filepath.Join(dir, "store", "campaigns", c.Name))
	files := 0
	require.NoError(t, fs.WalkDir(os.DirFS(filepath.Join(dir, "one")), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		want, err := os.ReadFile(filepath.Join(dir, "one", name))
		require.NoError(t, err)
		got, err := fs.ReadFile(copied, name)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), name)
		return nil
	}))
	require.Greater(t, files, 10, "the kept runs are among them")

	_, second := run("two", "90")
	require.Equal(t, first.Findings[0].First, second.Findings[0].First, "the ledger is the first machine's")
	rows, err := readRows[Trend](filepath.Join(dir, "two", TrendsFile))
	require.NoError(t, err)
	require.Len(t, rows, 2, "it goes on with the trends")
	require.Equal(t, 60, rows[0].Runs)
	require.Equal(t, 90, rows[1].Runs)
}
