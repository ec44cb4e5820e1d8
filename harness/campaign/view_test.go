package campaign

import (
	"path/filepath"
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
