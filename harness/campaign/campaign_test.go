package campaign

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/campaign/store"
	"recount/harness/estimate"
	"recount/harness/looked"
	"recount/harness/record"
	"recount/internal/hint"
)

var kills = flag.Int("kills", 5, "how often TestWorkersThatAreKilled kills one")

const worker = "RECOUNT_TEST_CAMPAIGN_WORKER" // a folder: the test's program is a worker of the campaign there

func TestMain(m *testing.M) {
	if dir := os.Getenv(worker); dir != "" {
		work(dir)
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

// small is a campaign that finds something in few runs.
const small = `
targets:
  - {target: raft, property: sticky-leader}
  - {target: raft, name: raft-forgetful, options: {forget-vote: true}, property: bounded-terms, runs: 40}
faults: [isolate, cut-link]
nodes: 3
time: 5s
runs: 80
shard: 10
seed: 3
`

func written(t testing.TB, text string) string {
	file := filepath.Join(t.TempDir(), "small.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	return file
}

func loaded(t testing.TB, text string) *Campaign {
	c, err := Load(written(t, text))
	require.NoError(t, err)
	return c
}

func opened(t testing.TB, dir string) *store.Store {
	s, err := store.Open(t.Context(), dir)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// said is what a campaign came to without what depends on the day and the place.
func said(t testing.TB, s *Summary) string {
	out := *s
	out.Started, out.Took, out.Command = time.Time{}, 0, ""
	out.Findings = append([]Finding{}, s.Findings...)
	for i := range out.Findings {
		f := &out.Findings[i]
		f.First, f.Last, f.Repeat = time.Time{}, time.Time{}, ""
	}
	b, err := json.MarshalIndent(out, "", " ")
	require.NoError(t, err)
	return string(b)
}

func TestTheSameIsFoundWhateverIsDoneAtOnce(t *testing.T) {
	c := loaded(t, small)
	var first string
	for _, jobs := range []int{1, 5} {
		dir := t.TempDir()
		s, err := c.Run(t.Context(), Config{Store: opened(t, dir+"/store"), Folder: dir, Jobs: jobs})
		require.NoError(t, err)
		require.Equal(t, Done, s.State)
		require.Equal(t, 1, s.Status)
		require.Equal(t, 120, s.Runs)
		require.NotEmpty(t, s.Findings)
		seen := map[string]bool{}
		for _, f := range s.Findings {
			require.False(t, seen[f.Signature], "each is listed once")
			seen[f.Signature] = true
			require.Equal(t, New, f.State)
			require.Positive(t, f.Runs)
			require.Less(t, f.Low, f.High)
			require.FileExists(t, filepath.Join(dir, f.Run, "history.jsonl"))
			require.FileExists(t, filepath.Join(dir, f.Run, "report.html"))
		}
		for _, l := range s.Targets {
			require.Positive(t, l.Keys)
			require.Equal(t, l.Runs, l.Chance.Trials)
		}
		if first == "" {
			first = said(t, s)
		}
		require.Equal(t, first, said(t, s))
	}
}

// A fault that never takes effect is listed with how often it was tried, and why it did not, also of results that were put together.
func TestWhyFaultsNeverTookEffect(t *testing.T) {
	c := loaded(t, strings.NewReplacer("[isolate, cut-link]", "[isolate, squeeze-memory]").Replace(small))
	dir := t.TempDir()
	kept := opened(t, dir+"/store")
	s, err := c.Run(t.Context(), Config{Store: kept, Folder: dir})
	require.NoError(t, err)
	l := s.Targets[0]
	require.Equal(t, []string{"squeeze-memory"}, l.NoEffect)
	vain := l.Vain["squeeze-memory"]
	require.Positive(t, vain.Times)
	require.Contains(t, vain.Why, "memory is not simulated")
	require.Len(t, l.Vain, 1)
	for _, a := range l.Aims {
		require.Equal(t, a.Took == 0, a.Why != "", a.Fault)
	}
	var text strings.Builder
	require.NoError(t, s.Text(&text))
	require.Contains(t, text.String(), fmt.Sprintf("never seen to take effect: squeeze-memory (tried %d times, for one: ", vain.Times))

	results, err := keys(t.Context(), kept, "results/")
	require.NoError(t, err)
	var all []*Result
	for _, key := range results {
		b, err := kept.Get(t.Context(), key)
		require.NoError(t, err)
		all = append(all, &Result{})
		require.NoError(t, json.Unmarshal(b, all[len(all)-1]))
	}
	p, err := together(all)
	require.NoError(t, err)
	require.NoError(t, p.take())
	for i, r := range p.Results {
		require.Equal(t, all[i].Aims, r.Aims)
	}
}

// Of reasons the same counts, whichever came first, and none of what has taken effect.
func TestReasonsJoinInAnyOrder(t *testing.T) {
	a, b, none, took := Aim{Times: 1, Why: "a"}, Aim{Times: 2, Why: "b"}, Aim{Times: 4}, Aim{Times: 8, Took: 1}
	for _, order := range [][]Aim{{a, b, none}, {none, b, a}, {b, none, a}} {
		require.Equal(t, Aim{Times: 7, Why: "a"}, order[0].join(order[1]).join(order[2]))
		require.Equal(t, Aim{Times: 15, Took: 1}, took.join(order[0]).join(order[1]).join(order[2]))
		require.Equal(t, Aim{Times: 15, Took: 1}, order[0].join(order[1]).join(order[2]).join(took))
	}
}

func TestWhatIsDoneIsNotDoneAgain(t *testing.T) {
	c := loaded(t, small)
	whole := t.TempDir()
	undisturbed, err := c.Run(t.Context(), Config{Store: opened(t, whole+"/store"), Folder: whole})
	require.NoError(t, err)

	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	s, err := c.Run(ctx, Config{Store: opened(t, dir+"/store"), Folder: dir, Jobs: 1, Progress: func(p Progress) {
		if p.Done > 0 {
			stop()
		}
	}})
	require.NoError(t, err)
	require.Equal(t, Stopped, s.State)
	require.Equal(t, 2, s.Status)
	require.Less(t, s.Runs, 120)
	require.Positive(t, s.Runs)

	s, err = c.Run(t.Context(), Config{Store: opened(t, dir+"/store"), Folder: dir})
	require.NoError(t, err)
	require.Equal(t, said(t, undisturbed), said(t, s))

	again, err := c.Run(t.Context(), Config{Store: opened(t, dir+"/store"), Folder: dir, Progress: func(Progress) { t.Error("something was made") }})
	require.NoError(t, err)
	require.Equal(t, said(t, undisturbed), said(t, again))

	elsewhere := t.TempDir()
	other, err := c.Run(t.Context(), Config{Store: opened(t, dir+"/store"), Folder: elsewhere})
	require.NoError(t, err)
	require.Equal(t, said(t, undisturbed), said(t, other))
	for _, f := range other.Findings {
		require.FileExists(t, filepath.Join(elsewhere, f.Run, f.Property+".yaml"))
	}
}

// What people and pages look at is the same, however often the same is made: a row of trends for each target and edition, a point of
// the curve for each number of runs.
func TestToMakeAnEditionAgainAddsNoRows(t *testing.T) {
	dir := t.TempDir()
	st := opened(t, dir+"/store")
	rows := func(text string) (trends, curve string) {
		_, err := loaded(t, text).Run(t.Context(), Config{Store: st, Folder: dir, Jobs: 1})
		require.NoError(t, err)
		a, err := os.ReadFile(filepath.Join(dir, TrendsFile))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(dir, CoverageFile))
		require.NoError(t, err)
		return string(a), string(b)
	}
	trends, curve := rows(small)
	require.Equal(t, 2, strings.Count(trends, "\n"), "one for each target")
	again, same := rows(small)
	require.Equal(t, trends, again)
	require.Equal(t, curve, same)
	more, longer := rows(strings.Replace(small, "runs: 80", "runs: 90", 1))
	require.Equal(t, 4, strings.Count(more, "\n"))
	require.True(t, strings.HasPrefix(more, trends))
	require.NotContains(t, longer, curve, "the curve is of one edition")

	file := filepath.Join(dir, "rows")
	one := Trend{Edition: "a", Target: "raft", Runs: 10}
	require.NoError(t, putTrends(file, []Trend{one, {Edition: "b", Target: "raft", Runs: 10}}))
	one.Runs = 20
	require.NoError(t, putTrends(file, []Trend{one}))
	got, err := readRows[Trend](file)
	require.NoError(t, err)
	require.Equal(t, []Trend{{Edition: "b", Target: "raft", Runs: 10}, one}, got, "an edition that a budget ended has gone on")
}

func TestACampaignThatFailsSaysWithWhichStatus(t *testing.T) {
	dir := t.TempDir()
	st := opened(t, dir+"/store")
	require.NoError(t, os.WriteFile(dir+"/store/parents", nil, 0o644)) // where there is to be a folder
	s, err := loaded(t, small).Run(t.Context(), Config{Store: st, Folder: dir})
	require.Error(t, err)
	require.Equal(t, record.StatusFailed, s.Status)
	require.Contains(t, s.Sentence(), "Failed after ")
}

// Nothing is shrunk when the budget is spent: that is told, and the same command without it shrinks what is left.
func TestABudgetEndsShrinking(t *testing.T) {
	dir := t.TempDir()
	st := opened(t, dir+"/store")
	want, err := loaded(t, small).Run(t.Context(), Config{Store: st, Folder: dir})
	require.NoError(t, err)
	for _, prefix := range []string{"findings/", "yardstick/"} {
		all, err := keys(t.Context(), st, prefix)
		require.NoError(t, err)
		require.NotEmpty(t, all)
		require.NoError(t, st.DeleteAll(t.Context(), all))
	}
	other := t.TempDir()
	s, err := loaded(t, small+"budget: 1ns").Run(t.Context(), Config{Store: st, Folder: other})
	require.NoError(t, err)
	require.Equal(t, 120, s.Runs, "those that there are")
	require.Empty(t, s.Findings)
	require.Positive(t, s.Targets[0].Unshrunk)
	require.Equal(t, 2, s.Status)
	require.NoFileExists(t, filepath.Join(other, TrendsFile))
	s, err = loaded(t, small).Run(t.Context(), Config{Store: st, Folder: other})
	require.NoError(t, err)
	require.Equal(t, said(t, want), said(t, s))
	require.FileExists(t, filepath.Join(other, TrendsFile))
}

// Runs on containers do not repeat: what they have shown is shrunk by several runs of each plan, and kept, whatever is made later.
func TestWhatContainersShowIsKept(t *testing.T) {
	const text = "targets: [{target: raft, property: sticky-leader}]\non: docker\nfaults: [isolate]\nnodes: 3\ntime: 8s\nshard: 5\nruns: 10\nseed: 3"
	dir := t.TempDir()
	st := opened(t, dir+"/store")
	made := 0
	simulate := func(ctx context.Context, p record.Plan) (*record.Run, error) {
		made++
		p.On = record.OnSim
		return harness.Simulate(ctx, p)
	}
	s, err := loaded(t, text).Run(t.Context(), Config{Store: st, Folder: dir, Make: simulate})
	require.NoError(t, err)
	require.NotEmpty(t, s.Findings)
	require.LessOrEqual(t, made, 10+len(s.Findings)*(shrinking[record.OnDocker].Runs+20), "a few hours' worth at most")
	for _, f := range s.Findings {
		require.Contains(t, f.Repeat, "--on docker")
		require.FileExists(t, filepath.Join(dir, f.Run, f.Property+".yaml"))
	}
	made = 0
	more, err := loaded(t, strings.Replace(text, "runs: 10", "runs: 15", 1)).Run(t.Context(), Config{Store: st, Folder: dir, Make: simulate})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(more.Findings), len(s.Findings))
	for i := range s.Findings {
		require.Equal(t, s.Findings[i].Run, more.Findings[i].Run)
	}
}

func TestWhatIsConcludedTooEarlyIsNotKept(t *testing.T) {
	c := loaded(t, small)
	dir := t.TempDir()
	st := opened(t, dir+"/store")
	s, err := c.Run(t.Context(), Config{Store: st, Folder: dir})
	require.NoError(t, err)
	require.NotEmpty(t, s.Findings)
	results, err := keys(t.Context(), st, "results/")
	require.NoError(t, err)
	findings, err := keys(t.Context(), st, "findings/")
	require.NoError(t, err)
	for _, key := range append(findings, results[0]) {
		require.NoError(t, st.Delete(t.Context(), key))
	}
	early, err := c.Run(t.Context(), Config{Store: st, Folder: dir, Collect: true})
	require.NoError(t, err)
	require.Equal(t, Stopped, early.State)
	require.NotEmpty(t, early.Findings)
	kept, err := keys(t.Context(), st, "findings/")
	require.NoError(t, err)
	require.Less(t, len(kept), len(findings))
	again, err := c.Run(t.Context(), Config{Store: st, Folder: dir})
	require.NoError(t, err)
	require.Equal(t, said(t, s), said(t, again))
}

// A chain whose last shard handed nothing on goes on when more is asked for, and so does one that lost what was handed on.
func TestWhatIsHandedOnIsMadeAgainIfItIsNotThere(t *testing.T) {
	text := func(runs string) string {
		return "targets: [raft]\nfaults: [isolate]\nnodes: 3\ntime: 5s\nshard: 5\nruns: " + runs
	}
	whole := t.TempDir()
	want, err := loaded(t, text("15")).Run(t.Context(), Config{Store: opened(t, whole+"/store"), Folder: whole})
	require.NoError(t, err)
	dir := t.TempDir()
	st := opened(t, dir+"/store")
	_, err = loaded(t, text("5")).Run(t.Context(), Config{Store: st, Folder: dir})
	require.NoError(t, err)
	_, err = loaded(t, text("10")).Run(t.Context(), Config{Store: st, Folder: dir})
	require.NoError(t, err)
	for key, err := range st.List(t.Context(), "parents/") {
		require.NoError(t, err)
		require.NoError(t, st.Delete(t.Context(), key))
	}
	s, err := loaded(t, text("15")).Run(t.Context(), Config{Store: st, Folder: dir})
	require.NoError(t, err)
	require.Equal(t, said(t, want), said(t, s))
}

// Where another number of runs was asked for before, runs of its last shard count once or not at all.
func TestRunsCountOnceWhateverWasAskedForBefore(t *testing.T) {
	st := opened(t, t.TempDir())
	for _, runs := range []int{8, 9, 10, 11, 2, 3} {
		c := loaded(t, fmt.Sprintf("targets: [raft]\nfaults: [isolate]\nnodes: 3\ntime: 5s\nshard: 2\nruns: %d", runs))
		s, err := c.Run(t.Context(), Config{Store: st, Folder: t.TempDir()})
		require.NoError(t, err)
		require.Equal(t, runs, s.Runs)
		whole, err := c.Run(t.Context(), Config{Store: opened(t, t.TempDir()), Folder: t.TempDir()})
		require.NoError(t, err)
		require.Equal(t, said(t, whole), said(t, s), "runs: %d", runs)
	}
	sum := newSum()
	sum.counts = func(r *Result) bool { return (&Target{Runs: 3}).planned(r, 2) }
	var made []*Result
	for k, shard := range append(chain("s", 0, 4, 2).Shards, chain("s", 0, 3, 2).Shards[1]) {
		var reach estimate.Reach
		reach.Add(shard.number()+1, slices.Values([]uint32{uint32(k)}))
		b, err := reach.MarshalBinary()
		require.NoError(t, err)
		made = append(made, &Result{Shard: shard.ID(), Link: shard.Link, Runs: shard.Runs, Reach: b})
	}
	p, err := together(made)
	require.NoError(t, err)
	require.NoError(t, sum.addPack(p))
	require.Equal(t, 3, sum.Runs)
	require.Equal(t, 2, sum.Reach.Keys(), "those of the shard of two runs in the place of one are left out")
}

// work is what a worker process does.
func work(dir string) {
	c, err := Load(filepath.Join(dir, "small.yaml"))
	var st *store.Store
	if err == nil {
		st, err = store.Open(context.Background(), filepath.Join(dir, "store"))
	}
	if err == nil {
		_, err = c.Run(context.Background(), Config{Store: st, Folder: dir, Jobs: 1, Poll: 50 * time.Millisecond})
	}
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
}

// Three processes share a store, and are killed without a word, again and again. What is made in the end is what one process
// makes that nobody disturbs: every shard's result, once.
func TestWorkersThatAreKilled(t *testing.T) {
	text := strings.Replace(small, "runs: 80\nshard: 10", "runs: 60\nshard: 5", 1)
	c := loaded(t, text)
	whole, dir := t.TempDir(), t.TempDir()
	want, err := c.Run(t.Context(), Config{Store: opened(t, whole+"/store"), Folder: whole})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "small.yaml"), []byte(text), 0o644))
	start := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), worker+"="+dir)
		cmd.Stderr = os.Stderr
		require.NoError(t, cmd.Start())
		return cmd
	}
	workers := []*exec.Cmd{start(), start(), start()}
	defer func() {
		for _, w := range workers {
			_ = w.Process.Kill()
			_ = w.Wait()
		}
	}()
	st := opened(t, filepath.Join(dir, "store"))
	rnd := rand.New(rand.NewPCG(1, 2)) // when they are killed is for the machine to say
	for range *kills {
		time.Sleep(time.Duration(rnd.IntN(1000)) * time.Millisecond)
		k := rnd.IntN(len(workers))
		_ = workers[k].Process.Signal(syscall.SIGKILL)
		_ = workers[k].Wait()
		lapse(t, st) // as it does in a minute
		workers[k] = start()
	}
	for i := range workers {
		require.NoError(t, workers[i].Wait())
		workers[i] = start() // what it is told now is what all have made
		require.NoError(t, workers[i].Wait())
	}
	s, err := c.Run(t.Context(), Config{Store: st, Folder: dir})
	require.NoError(t, err)
	require.Equal(t, said(t, want), said(t, s))
	for i := range c.Targets {
		binary, err := Binary()
		require.NoError(t, err)
		sub, err := c.subject(&c.Targets[i], binary)
		require.NoError(t, err)
		sum, err := Total(t.Context(), st, sub.ID(), nil, false)
		require.NoError(t, err)
		require.Len(t, sum.Done, c.Targets[i].Runs/c.Shard)
	}
}

// lapse has all claims lapse that nobody renews, without the wait.
func lapse(t *testing.T, st *store.Store) {
	for key, err := range st.List(t.Context(), "claims/") {
		require.NoError(t, err)
		require.NoError(t, st.Delete(t.Context(), key))
	}
}

func TestAFileIsChecked(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                                                {"no targets", "targets: ["},
		"targets: [rafft]":                                {`unknown target "rafft"`, `did you mean "raft"`},
		"targets: [raft]\nfaults: [partion]":              {`unknown fault "partion"`, "partition"},
		"targets: [raft]\nrun: 5":                         {`line 2, column 1: unknown field "run"`, `"runs"`},
		"targets: [raft, raft]":                           {`two targets named "raft"`, "name: other"},
		"targets: [{target: raft, runz: 5}]":              {`line 1, column 26: unknown field "runz"`, `"runs"`},
		"targets: [raft]\nnodes: 7-3":                     {`"7-3" is neither a size nor a range`, "3-7"},
		"targets: [raft]\nname: a/b":                      {`name "a/b"`, "nightly"},
		"targets: [raft]\nruns: -1":                       {"runs: less than none", "default"},
		"targets: [raft]\nshard: -1\ntime: -1s\nruns: -1": {"runs: less than none", "default"}, // the first of several
		"targets: [{target: raft, runs: -1}]":             {"raft: -1 runs", "leave it out"},
		"targets: [{target: raft, options: {scale: []}}]": {"option scale has no values", "leave it out"},
		"targets: [raft]\nnodes: 3-9000000000000":         {"clusters of 3 to 9000000000000 nodes", "3 to 7"},
		"targets: [raft]\nshard: 4611686018427387904":     {"shard: 4611686018427387904 runs", "500"},
		"targets: [raft]\nname: a@b":                      {`name "a@b"`, "nightly"},
		"targets: [etcd]":                                 {"etcd is a real system", "add on: docker; or on: virtual"},
		"targets: [raft]\nknown: [{target: x}]":           {`unknown target of the campaign "x"`, "raft"},
		"targets: [{target: raft, options: {sacle: 1}}]":  {`unknown option "sacle"`, "scale"},
	} {
		_, err := Load(written(t, text))
		require.ErrorContains(t, err, want[0])
		require.Contains(t, hint.Of(err), want[1], text)
		require.True(t, harness.IsUsage(err), text)
		require.NotContains(t, err.Error(), "\n")
	}
}

func TestShardsAreTheirHashes(t *testing.T) {
	c := loaded(t, small)
	ids := map[string]bool{}
	s, err := c.subject(&c.Targets[0], "binary")
	require.NoError(t, err)
	runs := 0
	for k := range 3 {
		for _, shard := range chain(s.ID(), k, c.Targets[0].Runs-k*links*c.Shard, c.Shard).Shards {
			require.False(t, ids[shard.ID()])
			ids[shard.ID()] = true
			runs += shard.Runs
		}
	}
	require.Equal(t, c.Targets[0].Runs, runs)
	for name, change := range map[string]func(c *Campaign, binary *string){
		"another program":  func(_ *Campaign, binary *string) { *binary = "newer" },
		"another seed":     func(c *Campaign, _ *string) { c.Seed++ },
		"other faults":     func(c *Campaign, _ *string) { c.Targets[0].Faults = []string{"kill"} },
		"another property": func(c *Campaign, _ *string) { c.Targets[0].Property = "" },
	} {
		other, binary := loaded(t, small), "binary"
		change(other, &binary)
		o, err := other.subject(&other.Targets[0], binary)
		require.NoError(t, err)
		require.NotEqual(t, s.ID(), o.ID(), name)
	}
	more := loaded(t, strings.Replace(small, "runs: 80", "runs: 800", 1))
	o, err := more.subject(&more.Targets[0], "binary")
	require.NoError(t, err)
	require.Equal(t, s.ID(), o.ID(), "what was made counts when more is asked for")
}

// Lines that are to come sometimes are added up over shards, also of results that were put together.
func TestLinesThatNeverCame(t *testing.T) {
	var none estimate.Reach
	reach, err := none.MarshalBinary()
	require.NoError(t, err)
	p, err := together([]*Result{
		{Shard: "00000000000000a1", Runs: 1, Reach: reach, Came: map[string]int{"stepped down": 0, "snapshot": 0}},
		{Shard: "00000000000000a2", Runs: 1, Reach: reach, Came: map[string]int{"stepped down": 2, "snapshot": 0}},
	})
	require.NoError(t, err)
	require.NoError(t, p.take())
	s := newSum()
	require.NoError(t, s.addPack(p))
	require.Equal(t, map[string]int{"stepped down": 2, "snapshot": 0}, s.Came)
	l := Looked{Runs: 2, Sometimes: looked.Hoped(s.Came)}
	require.Equal(t, []string{"lines that are to come sometimes and never did: snapshot"}, l.Details())
}
