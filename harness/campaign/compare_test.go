package campaign

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// edition is a summary of a campaign that has tested one target, and found a weakness or not.
func edition(name string, finds bool) *Summary {
	s := &Summary{Head: Head{State: Done, Runs: 5}, Edition: name, Targets: []Looked{{Target: "raft", Runs: 5}}}
	if finds {
		s.Findings = []Finding{{Target: "raft", Property: "agreement", Signature: "raft: agreement: isolate", Runs: 1, Of: 5}}
	}
	return s
}

func TestWhatWasGoneAndIsBackIsNew(t *testing.T) {
	l := &ledger{Entries: map[string]*entry{}}
	for _, step := range []struct {
		edition string
		finds   bool
		want    Standing
	}{{"a", true, New}, {"b", true, Seen}, {"c", false, Gone}, {"b", true, Seen}, {"c", false, Gone}, {"d", true, New}, {"d", true, New}, {"e", true, Seen}} {
		s := edition(step.edition, step.finds)
		l.stand(s, &Campaign{}, time.Now())
		require.NoError(t, l.write(filepath.Join(t.TempDir(), "ledger.json"), s))
		require.Len(t, s.Findings, 1)
		require.Equal(t, step.want, s.Findings[0].State, step)
	}
}

func TestWhatTheOtherSideDoesNotHaveFailsAComparison(t *testing.T) {
	a, b := edition("a", false), edition("b", true)
	b.Findings[0].State = Seen // by an edition before both
	require.Equal(t, 1, Compare(a, b).Status)
	require.Equal(t, 0, Compare(b, b).Status)
	b.Findings[0].Known = true
	require.Equal(t, 0, Compare(a, b).Status)
}

// What was not shrunk may be what was found before: it is not told to be gone.
func TestWhatIsPerhapsThereIsNotGone(t *testing.T) {
	l := &ledger{Entries: map[string]*entry{}}
	before, after := edition("a", true), edition("b", false)
	after.Targets[0].Unshrunk = 3
	for _, s := range []*Summary{before, after} {
		l.stand(s, &Campaign{}, time.Now())
		require.NoError(t, l.write(filepath.Join(t.TempDir(), "ledger.json"), s))
	}
	require.Empty(t, after.Findings)
	c := Compare(before, after)
	require.Equal(t, PerhapsThere, c.Changes[0].State)
	require.Contains(t, c.Sentence(), "1 perhaps there, 0 not found again")
	after.Targets[0].Unshrunk = 0
	require.Equal(t, GoneThere, Compare(before, after).Changes[0].State)
	after = edition("c", true)
	l.stand(after, &Campaign{}, time.Now())
	require.Equal(t, Seen, after.Findings[0].State, "it was never gone")
}

func TestBracketsInAFolderAreNoPattern(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r[4]")
	require.NoError(t, os.MkdirAll(filepath.Join(Folder(dir), "nig[1]ht", editions), 0o755))
	require.NoError(t, putJSON(filepath.Join(Folder(dir), "nig[1]ht", editions, "a.json"), edition("a", true)))
	s, err := Find(dir, "nig[1]ht")
	require.NoError(t, err)
	require.Equal(t, "a", s.Edition)
	all, err := List(dir)
	require.NoError(t, err)
	require.Len(t, all, 1)
	_, err = Find(dir, filepath.Join(Folder(dir), "nig[1]ht", editions, "a.json"))
	require.ErrorContains(t, err, "no campaign", "a file is none")
}

func TestAFolderWithoutAnEditionIsNotListed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(Folder(dir), "only@store", "store"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(Folder(dir), "whole", editions), 0o755))
	require.NoError(t, putJSON(filepath.Join(Folder(dir), "whole", editions, "a.json"), edition("a", true)))
	all, err := List(dir)
	require.NoError(t, err)
	require.Len(t, all, 1)
	_, err = Find(dir, "whole@b")
	require.ErrorContains(t, err, `no edition "b"`)
}
