package campaign

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/hunt"
	"recount/harness/record"
)

// A campaign of a server of which some runs do not start, and no cluster of four nodes.
const reluctant = `
targets: [{target: FILE, name: reluctant, options: {stuck: 30}}]
on: virtual
faults: [cut-link]
nodes: NODES
time: 3s
runs: 24
shard: 12
seed: 1
`

func campaignOfReluctant(t *testing.T, nodes string) *Campaign {
	file, err := filepath.Abs("../testdata/reluctant/election.yaml")
	require.NoError(t, err)
	return loaded(t, strings.NewReplacer("FILE", file, "NODES", nodes).Replace(reluctant))
}

func TestRunsThatDoNotStartAreToldAndKept(t *testing.T) {
	c := campaignOfReluctant(t, "3-4")
	var first string
	for _, jobs := range []int{1, 2} {
		dir := t.TempDir()
		st := opened(t, dir+"/store")
		s, err := c.Run(t.Context(), Config{Store: st, Folder: dir, Jobs: jobs})
		require.NoError(t, err)
		require.Equal(t, Done, s.State)
		require.Equal(t, record.StatusUnknown, s.Status, "nothing was found, and not every run started")
		require.Equal(t, 24, s.Runs, "as planned")
		l := s.Targets[0]
		require.Len(t, l.GivenUp, 1)
		require.Equal(t, 4, l.GivenUp[0].Nodes)
		require.Contains(t, l.GivenUp[0].Why, "only odd numbers of nodes are supported")
		u := l.Unstarted
		require.NotNil(t, u)
		require.Equal(t, 3, u.Nodes)
		require.Contains(t, u.Why, "n2 is not ready after 10s")
		require.Equal(t, 24, l.Runs+u.Runs+l.GivenUp[0].Runs+l.GivenUp[0].LeftOut)
		require.Equal(t, l.Runs, l.Chance.Trials, "rates are of those that started")

		kept, err := record.Read(filepath.Join(dir, u.Run))
		require.NoError(t, err)
		require.Contains(t, kept.Notes[len(kept.Notes)-1], "n2 is not ready after 10s")
		require.Equal(t, u.Seed, kept.Seed)
		require.Equal(t, u.Repeat, kept.Repeat)
		require.Contains(t, u.Repeat, filepath.Join(dir, u.Run))
		require.FileExists(t, filepath.Join(dir, u.Run, record.NodeLogs, "n2.log"))

		var text, markdown bytes.Buffer
		require.NoError(t, s.Text(&text))
		require.NoError(t, s.Markdown(&markdown))
		for _, form := range []string{text.String(), markdown.String()} {
			require.Contains(t, form, "did not start, one of them with 3 nodes, seed ")
			require.Contains(t, form, "no cluster of 4 nodes started, in ")
		}
		require.Contains(t, s.Sentence(), "nothing was found, and ")
		require.Contains(t, s.Sentence(), " did not start")
		stored, err := Find(filepath.Dir(dir), dir)
		require.NoError(t, err)
		require.Equal(t, l, stored.Targets[0])

		u.Repeat = ""
		if first == "" {
			first = said(t, s)
		}
		require.Equal(t, first, said(t, s), "whatever is done at once")
	}
}

// Where nothing starts the campaign fails, and keeps what shows why.
func TestACampaignOfWhatDoesNotStartKeepsARun(t *testing.T) {
	c := campaignOfReluctant(t, "4")
	dir := t.TempDir()
	s, err := c.Run(t.Context(), Config{Store: opened(t, dir+"/store"), Folder: dir, Jobs: 1})
	require.ErrorContains(t, err, "3 of 3 runs did not start")
	u := s.Targets[0].Unstarted
	require.NotNil(t, u)
	require.Equal(t, 3, u.Runs)
	require.FileExists(t, filepath.Join(dir, u.Run, record.RunFile))
}

func TestSizesJoinInAnyOrder(t *testing.T) {
	var one, other sizes
	all := []Size{
		{Nodes: 3, Started: 2}, {Nodes: 3, Failed: 1, Why: "b", Seed: 7}, {Nodes: 3, Failed: 1, Why: "a", Seed: 3}, {Nodes: 4, Failed: 3, LeftOut: 2, Why: "even", Seed: 9},
	}
	for i := range all {
		one.join(all[i])
		other.join(all[len(all)-1-i])
	}
	want := []Size{{Nodes: 3, Started: 2, Failed: 2, Why: "a", Seed: 3}, all[3]}
	require.Equal(t, want, one.sorted())
	require.Equal(t, want, other.sorted())
	require.True(t, harness.Hopeless(0, 3))
	require.NoError(t, one.note(hunt.Trial{Plan: record.Plan{Nodes: 4}}, Subject{}))
	require.Equal(t, 1, one[4].Started)
}

// On containers a run cannot be made again: the one that is kept is one that this process has seen, and never one of a size that is given up.
func TestOnContainersARunOfASizeThatStartsIsKept(t *testing.T) {
	dir := t.TempDir()
	s := &subject{id: "s", target: &Target{On: record.OnDocker}, sum: newSum()}
	fails := func(nodes int, seed uint64, why string) {
		p := record.Plan{On: record.OnDocker, Nodes: nodes, Seed: seed}
		folder := t.TempDir()
		require.NoError(t, record.Save(&record.Run{Target: "raft", Plan: p, Seed: seed, Dir: folder, Notes: []string{why}}))
		trial := hunt.Trial{Plan: p, Unstarted: &harness.Unstarted{Dir: folder}}
		s.missed(trial)
		s.sum.Sizes.join(Size{Nodes: nodes, Failed: 1, Why: why, Seed: seed})
	}
	for seed := range uint64(3) {
		fails(4, 10+seed, "even")
	}
	fails(5, 20, "five")
	fails(3, 30, "three")
	s.sum.Sizes.join(Size{Nodes: 5, Started: 1})
	s.sum.Sizes.join(Size{Nodes: 3, Started: 1})
	s.sum.Sizes.join(Size{Nodes: 7, Started: 1, Failed: 1, Why: "seven", Seed: 1}) // elsewhere

	s.keepUnstarted(t.Context(), dir, false)
	u, given := s.didNotStart(dir, false)
	require.Equal(t, []GivenUp{{4, 3, 0, "even"}}, given)
	require.Equal(t, 3, u.Runs, "those of sizes that start")
	require.Equal(t, s.unstartedRun(), u.Run)
	require.Equal(t, []any{5, uint64(20), "five"}, []any{u.Nodes, u.Seed, u.Why})
}
