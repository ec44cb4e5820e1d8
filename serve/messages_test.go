package serve

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
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

	require.Equal(t, kept[2:], asked(t, results, r, "at=3.5s&span=2562047h47m16s").Messages, "to the end, however long that is")

	none := simulate(t, results, "ping-pong", 8)
	elsewhere(t, none, record.OnDocker)
	require.Contains(t, asked(t, results, none, "at=1s&span=1s").Missing, "has kept no messages")

	require.NoError(t, os.WriteFile(filepath.Join(none.Dir, record.MessagesFile), []byte("{}\n{\n"), 0o644))
	require.Contains(t, asked(t, results, none, "at=1s&span=1s").Missing, "cannot be read")
}

// A run may come without the names of its nodes.
func TestADiagramWithoutNodesHasNone(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	r.Nodes = nil
	require.NoError(t, record.Save(r))
	_, h := open(t, Config{Results: results})
	require.Contains(t, get(h, "/api/v1/runs/"+id(t, results, r)+"/messages?at=1s&span=1ms").Body.String(), `"nodes":[]`)
}

// A node that is killed leads no more, one that is paused does: until it goes on, and in all that follows.
func TestTheDiagramKnowsWhoseProcessRuns(t *testing.T) {
	for fault, want := range map[string]view{"kill": {State: history.Down}, "pause": {Role: "leader", Term: 1, Leader: "n1", State: history.Paused}} {
		results := t.TempDir()
		r, err := harness.Run(t.Context(), record.Plan{Target: "raft", On: record.OnSim, Nodes: 3, Time: 10 * time.Second, Seed: 3, Workloads: []string{"record"},
			Schedule: []nemesis.Step{{At: time.Second, Fault: fault, Nodes: []string{"leader"}, For: 4 * time.Second}}}, harness.Config{Results: results})
		require.NoError(t, err)
		_, h := open(t, Config{Results: results})
		look := func(stretch string) (got struct {
			Known   map[string]view
			Moments []moment
		}) {
			require.NoError(t, json.Unmarshal(get(h, "/api/v1/runs/"+id(t, results, r)+"/messages?"+stretch).Body.Bytes(), &got))
			return got
		}
		node, seen := "", view{}
		for _, m := range look("at=0s&span=1h").Moments {
			for n, v := range m.Procs {
				node = n
				if m.F == history.Inject {
					require.Equal(t, want, *v, fault)
				}
				seen = *v
			}
			if m.F == history.Announce && m.Node == node || m.F == history.Observe && m.Node == node {
				require.Empty(t, m.View.State, fault)
				seen = *m.View
			}
		}
		require.NotEmpty(t, node)
		require.Equal(t, want, look("at=4s&span=10ms").Known[node], fault)
		require.Empty(t, seen.State, fault)
	}
}
