package campaign

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

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

// Machines that take turns, or make a campaign at once, know of each other's findings: since the earliest, and what came last.
func TestLedgersOfMachinesAreJoined(t *testing.T) {
	st := opened(t, t.TempDir())
	found := func(name, edition string, first, last int64, gone bool) *entry {
		return &entry{Finding: Finding{Signature: name, First: time.Unix(first, 0).UTC(), Last: time.Unix(last, 0).UTC()}, Edition: edition, Latest: edition, Gone: gone}
	}
	write := func(folder string, entries ...*entry) {
		l := &ledger{Entries: map[string]*entry{}}
		for _, e := range entries {
			l.Entries[e.Signature] = e
		}
		require.NoError(t, putJSON(filepath.Join(folder, ledgerFile), l))
	}
	has := func(folder string, entries ...*entry) {
		l := &ledger{}
		require.NoError(t, l.read(filepath.Join(folder, ledgerFile)))
		require.Len(t, l.Entries, len(entries))
		for _, e := range entries {
			require.Equal(t, e, l.Entries[e.Signature])
		}
	}
	open := func(folder string) *copied {
		c, err := openCopy(t.Context(), st, folder, "c")
		require.NoError(t, err)
		return c
	}
	one, two := t.TempDir(), t.TempDir()
	first := open(one)
	write(one, found("a", "x", 10, 10, false), found("b", "x", 10, 10, false))
	require.NoError(t, first.update(t.Context()))

	write(two, found("a", "y", 5, 20, false), found("b", "x", 10, 10, true))
	second := open(two)
	has(two, found("a", "y", 5, 20, false), found("b", "x", 10, 10, true))
	require.NoError(t, second.update(t.Context()))

	write(one, found("a", "x", 10, 10, false), found("b", "z", 10, 30, false), found("c", "z", 30, 30, false)) // it has not read what the second has written
	require.NoError(t, first.update(t.Context()))
	all := []*entry{found("a", "y", 5, 20, false), found("b", "z", 10, 30, false), found("c", "z", 30, 30, false)}
	has(one, all...)
	open(two)
	has(two, all...)
	three := t.TempDir()
	open(three)
	has(three, all...)

	write(three, all[:2]...) // what is taken out after nobody else has written stays out
	third := open(three)
	has(three, all...)
	write(three, all[:2]...)
	require.NoError(t, third.update(t.Context()))
	four := t.TempDir()
	open(four)
	has(four, all[:2]...)
}
