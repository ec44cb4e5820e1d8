package cli

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
)

// By its history a run is found with all that a replay by its folder knows.
func TestARunIsReadByItsHistory(t *testing.T) {
	h, err := history.New([]history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{Target: "mine.yaml", Nodes: []string{"n1"}}}})
	require.NoError(t, err)
	kept := &record.Run{Dir: t.TempDir(), Target: "mine.yaml", DescribedBy: "/elsewhere/mine.yaml", Built: []string{"executable:1"}}
	require.NoError(t, record.Save(kept))
	require.NoError(t, record.WriteHistory(kept.Dir, h))
	for _, path := range []string{kept.Dir, filepath.Join(kept.Dir, record.HistoryFile)} {
		r, err := readRun(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, kept.DescribedBy, r.DescribedBy)
		require.Equal(t, kept.Built, r.Built)
	}
}

// A run that comes out otherwise since the file that describes its target was edited is not laid to what runs.
func TestAReplayOfAnEditedFileSaysSo(t *testing.T) {
	of := func(terms ...uint64) *record.Run {
		ops := []history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{Target: "mine.yaml", Nodes: []string{"n1"}}}}
		for _, term := range terms {
			ops = append(ops, history.Op{Time: 1, Process: 1, Type: history.OK, F: history.Announce, Node: "n1", View: history.View{Role: history.Leader, Term: term}})
		}
		h, err := history.New(ops)
		require.NoError(t, err)
		return &record.Run{History: h}
	}
	for edited, says := range map[string]string{
		"":          "the target's code or Recount's is not what it was, or is not deterministic; to see",
		"mine.yaml": "mine.yaml is not what it was, or the target's code",
	} {
		made := of(2)
		made.History.Ops[0].Setup.Version = harness.Version
		stored := of(1)
		stored.History.Ops[0].Setup.Version = harness.Version
		err := (&replay{stored, &harness.Replay{Exact: true, Edited: edited}}).compare(nil, made)
		require.ErrorContains(t, err, "op 1 differs")
		require.Contains(t, hint.Of(err), says)
		require.Equal(t, record.StatusFailed, made.Status)
	}
}

// A server that does not follow from its seed is told so, and where two of its runs part, where what runs is what ran.
func TestAReplayOfAServerThatThrowsDiceSaysWhereItParts(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the server asks an amd64 for its time")
	}
	results := t.TempDir()
	cmd := func(args ...string) string {
		var out bytes.Buffer
		c := rootCommand()
		c.SetArgs(append(args, "--results", results))
		c.SetOut(io.Discard)
		c.SetErr(&out)
		err := c.ExecuteContext(t.Context())
		return out.String() + fmt.Sprint(err)
	}
	cmd("run", "--target", "../harness/testdata/dice/election.yaml", "--on", "virtual", "--nodes", "3", "--time", "5s", "--opt", "dice=true", "--seed", "1")
	said := cmd("run", "--replay", filepath.Join(results, "latest"))
	require.Contains(t, said, "what its servers do does not follow from the seed alone\n")
	require.Regexp(t, `(?m)^recount: two more runs part at .* of n2's scheduler$`, said)
	require.Contains(t, said, "main.main.func1")
	require.Contains(t, said, "the same ops as recorded, but the nodes did not do the same")
}
