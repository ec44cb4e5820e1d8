package campaign

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What an edition told before it was done, and shrank to something else with all of its runs, has never been there. What an earlier
// edition has found is gone.
func TestWhatAnUnfinishedEditionToldIsNotGone(t *testing.T) {
	l := &ledger{Entries: map[string]*entry{}}
	file := filepath.Join(t.TempDir(), ledgerFile)
	told := func(edition string, state State, signatures ...string) (told []string) {
		s := &Summary{Head: Head{State: state}, Edition: edition, Targets: []Looked{{Target: "raft", Runs: 10}}}
		for _, text := range signatures {
			s.Findings = append(s.Findings, Finding{Target: "raft", Signature: text, Runs: 1})
		}
		l.stand(s, &Campaign{}, time.Unix(0, 0))
		require.NoError(t, l.write(file, s))
		for _, f := range s.Findings {
			told = append(told, string(f.State)+" "+f.Signature)
		}
		return told
	}
	require.Equal(t, []string{"new a", "new b"}, told("first", Stopped, "a", "b"))
	require.Equal(t, []string{"new a", "new c"}, told("first", Done, "a", "c"))
	require.Equal(t, []string{"new d", "known c"}, told("second", Stopped, "c", "d"))
	require.Equal(t, []string{"known a", "gone c"}, told("second", Done, "a"))
}

// That ten runs have not shown what is rare says little, and no more is told of it.
func TestWhatIsGoneIsToldWithTheRunsThatDidNotShowIt(t *testing.T) {
	l := &ledger{Entries: map[string]*entry{"raft: c": {Finding: Finding{Target: "raft", Signature: "c", Runs: 3, Of: 1000}, Edition: "first"}}}
	s := &Summary{Head: Head{State: Done}, Edition: "second", Targets: []Looked{{Target: "raft", Runs: 10}}}
	l.stand(s, &Campaign{}, time.Unix(0, 0))
	require.Equal(t, "0 of 10 runs, 0 % (0 to 28 %)", s.Findings[0].Rate())
	var text, markdown strings.Builder
	require.NoError(t, s.Text(&text))
	require.NoError(t, s.Markdown(&markdown))
	require.Contains(t, text.String(), "\nnot found again: ")
	require.Contains(t, markdown.String(), "| not found again | raft |")
	require.Contains(t, s.Sentence(), "0 known, 1 not found again")
	old := Finding{State: Gone, Of: 1000}
	require.Empty(t, old.Rate(), "kept before they were counted")
}

// A ledger that is damaged is told, and one without entries is one of nothing.
func TestALedgerWithoutEntriesIsOneOfNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), ledgerFile)
	for text, whole := range map[string]bool{`{"entries":null}`: true, `{"entries":{"x":null}}`: true, "{}": true, "null": true, `{"entries":`: false} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		l := &ledger{}
		require.Equal(t, whole, l.read(file) == nil, text)
		s := &Summary{Head: Head{State: Done}, Edition: "first", Targets: []Looked{{Target: "raft", Runs: 10}}, Findings: []Finding{{Target: "raft", Signature: "a"}}}
		l.stand(s, &Campaign{}, time.Unix(0, 0))
		require.NoError(t, l.write(file, s))
		require.Len(t, l.Entries, 1)
	}
}
