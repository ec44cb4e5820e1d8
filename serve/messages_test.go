package serve

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

// asked is what the API says of the messages of a run in a stretch of it.
func asked(t *testing.T, results string, r *record.Run, stretch string) (answer struct {
	Messages []record.Message
	Missing  string
}) {
	t.Helper()
	_, h := open(t, Config{Results: results})
	require.NoError(t, json.Unmarshal(get(h, "/api/v1/runs/"+id(t, results, r)+"/messages?"+stretch).Body.Bytes(), &answer))
	return answer
}

// elsewhere makes a run one that took place elsewhere, with the messages that it has kept, if it has.
func elsewhere(t *testing.T, r *record.Run, on string, kept ...record.Message) {
	t.Helper()
	r.Cluster = on
	require.NoError(t, record.Save(r))
	if len(kept) == 0 {
		return
	}
	w, err := record.CreateMessages(r.Dir, true)
	require.NoError(t, err)
	for i := range kept {
		w.Add(&kept[i])
	}
	require.NoError(t, w.Close())
}

func TestMessagesOfASimulatedRunSayWhatBecameOfThem(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	got := asked(t, results, r, "at=3.5s&span=400ms")
	require.Empty(t, got.Missing)
	lost := 0
	for _, m := range got.Messages {
		require.NotEmpty(t, m.Kind)
		if m.Lost != "" {
			require.Equal(t, "the link is cut", m.Lost)
			lost++
		}
	}
	require.NotZero(t, lost)
	require.Greater(t, len(got.Messages), lost)
}

func TestMessagesThatWereKeptAreShown(t *testing.T) {
	results := t.TempDir()
	kept := []record.Message{
		{From: "n1", To: "n2", Sent: time.Second, Arrived: 1100 * time.Millisecond, Kind: "vote request", Term: 4, Words: "vote request term 4", Port: 6222, Late: "the link is slow"},
		{From: "n2", To: "n1", Sent: 2 * time.Second, Arrived: 3 * time.Second, Words: "10 bytes sent", Bytes: 10, Of: &record.Traffic{Packets: 1}},
		{From: "n2", To: "n1", Sent: 4 * time.Second, Arrived: 4 * time.Second, Words: "after"},
	}
	r := simulate(t, results, "ping-pong", 7)
	elsewhere(t, r, record.OnVirtual, kept...)
	require.Equal(t, kept[:2], asked(t, results, r, "at=1s&span=1s").Messages)
	require.Equal(t, kept[1:2], asked(t, results, r, "at=2.5s&span=1s").Messages, "what is under way counts")

	none := simulate(t, results, "ping-pong", 8)
	elsewhere(t, none, record.OnDocker)
	require.Contains(t, asked(t, results, none, "at=1s&span=1s").Missing, "has kept no messages")

	require.NoError(t, os.WriteFile(filepath.Join(none.Dir, record.MessagesFile), []byte("{}\n{\n"), 0o644))
	require.Contains(t, asked(t, results, none, "at=1s&span=1s").Missing, "cannot be read")
}
