package hunt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/looked"
	"recount/harness/record"
	"recount/harness/shrink"
	"recount/internal/seed"
	"recount/nemesis"
	"recount/report"
)

// allFaults are those that a simulated target can have.
func allFaults(target string) (names []string) {
	drawn := harness.Drawn(target, nil, record.OnSim)
	for _, f := range nemesis.All() {
		if !f.Asks && !f.Members && !f.Own || slices.Contains(drawn, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// after is a hunt of a target for a property.
func after(target, property string, seed uint64) Config {
	return Config{Target: target, Property: property, Seed: seed, Faults: allFaults(target), Nodes: [2]int{3, 7}, On: record.OnSim, Runs: 2000}
}

func hunted(t testing.TB, cfg Config) *Result {
	r, err := Hunt(context.Background(), cfg)
	require.NoError(t, err)
	return r
}

// said are the findings without their runs, which took another time in another hunt.
func said(r *Result) []Finding {
	all := slices.Clone(r.Findings)
	for i := range all {
		all[i].run = nil
	}
	return all
}

// Clocks are driven as far apart as a promise allows, and no further: what breaks then counts.
func TestClocksRunApartByWhatIsAllowed(t *testing.T) {
	for _, target := range []string{"leader-lease", "kubernetes-lease", "bully-quorum"} {
		h, err := newHunter(after(target, "", 1))
		require.NoError(t, err)
		require.Len(t, h.edges, 1, target)
		for k := range uint64(8) {
			p := record.Plan{
				Target: target, On: record.OnSim, Nodes: 3, Time: time.Minute, Schedule: h.apart(seed.New(k, "clocks")),
			}
			r, err := harness.Glance(t.Context(), p)
			require.NoError(t, err)
			i := slices.IndexFunc(r.Verdicts, func(v record.Verdict) bool { return v.Property == "exclusive-leadership" })
			require.True(t, r.Verdicts[i].Promised, target)
			require.False(t, r.Verdicts[i].Excused, target)
			for _, a := range looked.Of(r, nil).Aimed {
				require.True(t, a.Took, target)
			}
			p.Schedule[0].With["by"] = percent(1.01 * h.edges[0])
			r, err = harness.Glance(t.Context(), p)
			require.NoError(t, err)
			require.True(t, r.Verdicts[i].Excused, target)
		}
	}
}

// Half of the runs with real servers in virtual time have goroutines in the order in which they became ready.
func TestOrdersOfGoroutinesAreDrawn(t *testing.T) {
	cfg := after("etcd", "", 3)
	cfg.On, cfg.Faults = record.OnVirtual, Faults("etcd", record.OnVirtual)
	drawn := func() map[string]int {
		h, err := newHunter(cfg)
		require.NoError(t, err)
		n := map[string]int{}
		for k := range 60 {
			p, err := h.plan(k)
			require.NoError(t, err)
			n[p.Goroutines]++
		}
		return n
	}
	n := drawn()
	require.Len(t, n, 3)
	require.Greater(t, n[""], 20)
	cfg.Goroutines = []string{record.PCT}
	require.Equal(t, map[string]int{record.PCT: 60}, drawn())
	cfg.Goroutines = []string{"lifo"}
	require.ErrorContains(t, cfg.Check(), `unknown order of goroutines "lifo"`)
	cfg.On, cfg.Target, cfg.Goroutines = record.OnSim, "raft", []string{record.PCT}
	require.ErrorContains(t, cfg.Check(), "only real servers in virtual time have them")
}

func TestTheSameSeedMakesTheSameRunsWhateverTheJobs(t *testing.T) {
	cfg := after("raft", "sticky-leader", 3)
	cfg.KeepGoing, cfg.Runs = true, 300
	cfg.Jobs = 1
	a := hunted(t, cfg)
	cfg.Jobs = 7
	b := hunted(t, cfg)
	held := 0
	for _, f := range a.Findings {
		if f.run != nil {
			held++
		}
	}
	require.Len(t, grouped(a.Findings), held, "of each kind one run is held")
	require.Equal(t, said(a), said(b))
	require.Equal(t, a.Coverage, b.Coverage)
	require.Equal(t, a.Broken, b.Broken)
	require.Greater(t, len(a.Findings), 10)
	cfg.Seed++
	require.NotEqual(t, said(a), said(hunted(t, cfg)))
}

func TestAHuntEndsWithItsRunsItsBudgetOrItsContext(t *testing.T) {
	cfg := after("raft-prevote", "", 1)
	cfg.Runs, cfg.Time = 130, 10*time.Second
	var last Progress
	cfg.Progress = func(p Progress) { last = p }
	r := hunted(t, cfg)
	require.Equal(t, 130, r.Runs)
	require.Equal(t, r.Progress, last)
	require.Positive(t, r.Coverage)
	require.False(t, r.Interrupted)

	cfg.Runs, cfg.Budget = 0, 100*time.Millisecond
	require.False(t, hunted(t, cfg).Interrupted)

	cfg.Budget = 0
	ctx, stop := context.WithCancel(context.Background())
	var runs atomic.Int64
	cfg.Make = func(ctx context.Context, p record.Plan) (*record.Run, error) {
		if runs.Add(1) == 100 {
			stop()
		}
		return harness.Simulate(ctx, p)
	}
	r, err := Hunt(ctx, cfg)
	require.NoError(t, err)
	require.True(t, r.Interrupted)
	require.Less(t, r.Runs, 200)
}

// What was made when somebody ends a hunt counts, also behind a run that is under way.
func TestWhatWasMadeBehindARunUnderWayCounts(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	cfg := Config{Target: "raft", Options: map[string][]string{"forget-vote": {"true"}}, Faults: []string{"restart", "kill"}, Nodes: [2]int{3, 3},
		On: record.OnSim, Seed: 1, Runs: 40, Jobs: 2, KeepGoing: true}
	var begun, broke atomic.Int32
	cfg.Make = func(ctx context.Context, p record.Plan) (*record.Run, error) {
		switch begun.Add(1) {
		case 40:
			interrupt()
			fallthrough
		case 1:
			<-ctx.Done()
			return nil, ctx.Err()
		}
		r, err := harness.Simulate(ctx, p)
		if err == nil && slices.ContainsFunc(r.Verdicts, func(v record.Verdict) bool { return Wanted(&v, "monotonic-term") }) {
			broke.Add(1)
		}
		return r, err
	}
	r, err := Hunt(ctx, cfg)
	require.NoError(t, err)
	require.True(t, r.Interrupted)
	require.Equal(t, 38, r.Runs)
	require.Positive(t, broke.Load())
	require.Equal(t, int(broke.Load()), r.Broken["monotonic-term"])
}

func TestARunThatFailsEndsTheHunt(t *testing.T) {
	cfg := after("raft", "", 1)
	cfg.Make = func(context.Context, record.Plan) (*record.Run, error) { return nil, os.ErrPermission }
	_, err := Hunt(context.Background(), cfg)
	require.ErrorIs(t, err, os.ErrPermission)
	require.ErrorContains(t, err, "run 1, seed ")

	cfg = after("raft", "sticky-leader", 1)
	cfg.KeepGoing = true
	found := hunted(t, func() Config { c := cfg; c.Runs = 100; return c }())
	var runs atomic.Int64
	cfg.Jobs, cfg.Make = 1, func(ctx context.Context, p record.Plan) (*record.Run, error) {
		if runs.Add(1) == 101 {
			return nil, os.ErrPermission
		}
		return harness.Simulate(ctx, p)
	}
	r, err := Hunt(context.Background(), cfg)
	require.ErrorIs(t, err, os.ErrPermission)
	require.Equal(t, said(found), said(r), "what was found until then")
	require.NotEmpty(t, r.Findings)
}

func TestAHuntIsChecked(t *testing.T) {
	for want, change := range map[string]func(*Config){
		`unknown target "rafft"`:        func(c *Config) { c.Target = "rafft" },
		`unknown property "stickyness"`: func(c *Config) { c.Property = "stickyness" },
		`unknown fault "partion"`:       func(c *Config) { c.Faults = []string{"partion"} },
		`unknown option "sacle"`:        func(c *Config) { c.Options = map[string][]string{"sacle": {"1"}} },
		`"slow" is not a positive`:      func(c *Config) { c.Options = map[string][]string{"scale": {"1", "slow"}} },
		"clusters of 7 to 3 nodes":      func(c *Config) { c.Nodes = [2]int{7, 3} },
		"no faults to draw from":        func(c *Config) { c.Faults = nil },
		"unknown place":                 func(c *Config) { c.On = "moon" },
		`unknown workload "typing"`:     func(c *Config) { c.Workloads = []string{"typing"} },
		"etcd is a real system":         func(c *Config) { c.Target = "etcd" },
		"is too short for a fault":      func(c *Config) { c.Time = time.Millisecond },
	} {
		cfg := after("raft", "", 1)
		change(&cfg)
		_, err := Hunt(context.Background(), cfg)
		require.ErrorContains(t, err, want)
		require.True(t, harness.IsUsage(err), want)
	}
}

func TestPlansKeepToWhatWasAskedFor(t *testing.T) {
	cfg := after("blazingmq-term", "", 5)
	cfg.Nodes, cfg.Options, cfg.Workloads = [2]int{4, 5}, map[string][]string{"scale": {"0.1", "0.2"}}, []string{"fence"}
	cfg.Faults = []string{"isolate", "flap-link"}
	h, err := newHunter(cfg)
	require.NoError(t, err)
	scales, sizes, faults, steps := map[string]int{}, map[int]int{}, map[string]int{}, map[int]int{}
	for k := range 1000 {
		p, err := h.plan(k)
		require.NoError(t, err)
		require.NoError(t, harness.Check(p))
		scales[p.Options["scale"]]++
		sizes[p.Nodes]++
		steps[len(p.Schedule)]++
		for _, st := range p.Schedule {
			faults[st.Fault]++
		}
		require.LessOrEqual(t, p.Schedule.End(), p.Time)
		require.LessOrEqual(t, len(p.Schedule), maxSteps)
		h.corpus.note(p, map[looked.Feature]struct{}{looked.Feature(k): {}}) // so that all get varied
	}
	require.Len(t, scales, 2)
	require.Len(t, sizes, 2)
	require.Len(t, faults, 2)
	require.Greater(t, len(steps), 4)
}

func TestWhatReachedSomethingNewIsVaried(t *testing.T) {
	c := newCorpus(nil)
	rnd := seed.New(1, "test")
	require.Nil(t, c.pick(rnd))
	reach := func(seed uint64, codes ...uint64) {
		reached := map[looked.Feature]struct{}{}
		for _, code := range codes {
			reached[looked.Feature(code)] = struct{}{}
		}
		c.note(record.Plan{Seed: seed}, reached)
	}
	reach(1, 10, 11)
	reach(2, 10)
	reach(3, 10, 12)
	require.Equal(t, 3, c.size())
	picked := map[uint64]int{}
	for range 100 {
		picked[c.pick(rnd).Seed]++
	}
	require.Len(t, picked, 2)
	require.Greater(t, picked[1], 30)
	require.Greater(t, picked[3], 30)
}

func TestFindingsAreKeptOneOfAKind(t *testing.T) {
	cfg := after("raft", "sticky-leader", 3)
	cfg.KeepGoing, cfg.Runs, cfg.Faults, cfg.Nodes = true, 60, []string{"isolate"}, [2]int{3, 4}
	r := hunted(t, cfg)
	require.Greater(t, len(r.Findings), 5)
	results := t.TempDir()
	keeper := Keeper{Results: results, Origin: "recount hunt …", Shrink: shrink.Config{Jobs: 2}}
	kept, err := keeper.Keep(context.Background(), r)
	require.NoError(t, err)
	all := 0
	signatures := map[string]bool{}
	for _, k := range kept {
		all += 1 + k.Alike
		require.False(t, signatures[k.Shrunk.Signature()])
		signatures[k.Shrunk.Signature()] = true
		require.Equal(t, record.StatusBroken, k.Found.Status)
		require.Equal(t, record.StatusBroken, k.Shrunk.Run.Status)
		for _, dir := range []string{k.Found.Dir, k.Shrunk.Run.Dir} {
			for _, file := range []string{"report.html", "history.jsonl", "run.json", "repro"} {
				require.FileExists(t, filepath.Join(dir, file))
			}
		}
		require.Equal(t, "recount run "+k.File, k.Shrunk.Run.Repeat)
		page, err := os.ReadFile(report.Page(k.Shrunk.Run))
		require.NoError(t, err)
		require.Contains(t, string(page), `href="`+filepath.Base(k.File)+`"`, "the report links what lies beside it")
		require.Contains(t, k.Found.Repeat, "recount run --replay "+k.Found.Dir)
		s, err := harness.LoadScenario(k.File)
		require.NoError(t, err)
		require.Len(t, s.Schedule, 1)
	}
	require.Equal(t, len(r.Findings), all, "each finding is kept or is like one that is")
}

// A run on containers is kept as it was made, and judged, now and later, by what it was kept for.
func TestAFindingOnContainersRequiresWhatItBroke(t *testing.T) {
	scratch, results := t.TempDir(), t.TempDir()
	cfg := after("raft", "sticky-leader", 1)
	cfg.Make = func(ctx context.Context, p record.Plan) (*record.Run, error) { // stands for containers
		r, err := harness.Run(ctx, p, harness.Config{Results: scratch})
		if err == nil {
			r.Cluster = record.OnDocker
		}
		return r, err
	}
	keeper := Keeper{Results: results, Shrink: shrink.Config{Make: cfg.Make, Jobs: 1, Need: 1, Of: 1, Measure: 1}}
	kept, err := keeper.Keep(t.Context(), hunted(t, cfg))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	for _, r := range []*record.Run{kept[0].Found, kept[0].Shrunk.Run} {
		require.Equal(t, record.StatusBroken, r.Status)
		stored, err := record.Read(r.Dir)
		require.NoError(t, err)
		again, err := harness.PlanReplay(stored, record.Plan{Seed: stored.Seed})
		require.NoError(t, err)
		require.Equal(t, []string{"sticky-leader"}, again.Plan.Require)
	}
	s, err := harness.LoadScenario(kept[0].File)
	require.NoError(t, err)
	require.Equal(t, []string{"sticky-leader"}, s.Require)
	require.Equal(t, "recount run "+kept[0].File+" --on docker", kept[0].Shrunk.Run.Repeat)
}

func TestWhatWasBeingShrunkWhenARunFailedIsKept(t *testing.T) {
	runs := 0
	keeper := Keeper{Results: t.TempDir(), Shrink: shrink.Config{Jobs: 1, Make: func(ctx context.Context, p record.Plan) (*record.Run, error) {
		if runs++; runs == 30 {
			return nil, os.ErrPermission
		}
		return harness.Simulate(ctx, p)
	}}}
	kept, err := keeper.Keep(t.Context(), hunted(t, after("raft", "sticky-leader", 1)))
	require.ErrorIs(t, err, os.ErrPermission)
	require.Len(t, kept, 1)
	require.FileExists(t, filepath.Join(kept[0].Found.Dir, "report.html"))
	require.FileExists(t, kept[0].File)
}

func TestAfterCtrlCFindingsAreKeptAsTheyAre(t *testing.T) {
	r := hunted(t, after("raft", "sticky-leader", 1))
	ctx, stop := context.WithCancel(context.Background())
	stop()
	kept, err := Keeper{Results: t.TempDir()}.Keep(ctx, r)
	require.NoError(t, err)
	require.Len(t, kept, 1)
	require.Nil(t, kept[0].Shrunk)
	require.FileExists(t, filepath.Join(kept[0].Found.Dir, "report.html"))
}

func TestAPlantedOptionKeepsThePromises(t *testing.T) {
	cfg := after("raft", "", 1)
	cfg.Options = map[string][]string{"vote-twice": {"true"}}
	r := hunted(t, cfg)
	require.Len(t, r.Findings, 1)
	require.Contains(t, []string{"single-leader-per-term", "vote-once", "fencing"}, r.Findings[0].Property)
}

func TestAHuntSaysHowMuchItHasLookedAt(t *testing.T) {
	cfg := after("raft-prevote", "", 1)
	cfg.Runs, cfg.Nodes, cfg.Faults = 40, [2]int{}, []string{"hold-message", "kill", "disk-full"}
	l := hunted(t, cfg).Looked
	require.Equal(t, 40, l.Runs)
	require.Greater(t, l.Keys, 100)
	require.Equal(t, l.Keys, l.Curve[len(l.Curve)-1].Keys)
	require.Equal(t, 40, l.Chance.Trials)
	require.NotContains(t, l.Idle, "kill")
	require.GreaterOrEqual(t, l.Planted.Bugs, l.Planted.Found)
}

// A hunt that goes on has a finding of each property that a run broke, so that what is known hides nothing; one that ends has the first.
func TestEachPropertyThatARunBrokeIsFound(t *testing.T) {
	cfg := Config{Target: "raft", Options: map[string][]string{"forget-vote": {"true"}}, Faults: []string{"restart", "kill"}, Nodes: [2]int{3, 5},
		On: record.OnSim, Seed: 1, Runs: 60, KeepGoing: true}
	runs := map[string]map[int]bool{}
	several := 0
	cfg.Each = func(trial Trial) {
		several = max(several, len(trial.Found))
		for _, f := range trial.Found {
			if runs[f.Property] == nil {
				runs[f.Property] = map[int]bool{}
			}
			require.False(t, runs[f.Property][f.Run], "once")
			runs[f.Property][f.Run] = true
		}
	}
	r := hunted(t, cfg)
	require.Greater(t, several, 1)
	for property, of := range runs {
		require.Len(t, of, r.Broken[property]-r.Excused[property], property)
	}
	require.Greater(t, len(r.Findings), r.Progress.Findings, "which counts runs")
	kept, err := Keeper{Results: t.TempDir(), Shrink: shrink.Config{Runs: 1}}.Keep(t.Context(), r)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(kept), len(runs))
	dirs := map[string]bool{}
	for _, k := range kept {
		require.Equal(t, []string{k.Property}, k.Found.Plan.Require)
		dirs[k.Found.Dir] = true
	}
	require.Len(t, dirs, len(kept))

	cfg.KeepGoing, cfg.Each = false, nil
	require.Len(t, hunted(t, cfg).Findings, 1)
}

// A target that says how many nodes its clusters have is hunted with so many, and shrunk to no fewer.
func TestTheTargetsSizeIsKept(t *testing.T) {
	spec := filepath.Join(t.TempDir(), "pair.yaml")
	server, err := filepath.Abs("../../examples/server")
	require.NoError(t, err)
	text, err := os.ReadFile(server + "/election.yaml")
	require.NoError(t, err)
	sized := strings.Replace(string(text), "binary: {package: .}", fmt.Sprintf("binary: {package: %s}\nnodes: 4", server), 1)
	require.NotEqual(t, string(text), sized)
	require.NoError(t, os.WriteFile(spec, []byte(sized), 0o644))
	r, err := Hunt(t.Context(), Config{Target: spec, On: record.OnVirtual, Faults: []string{"isolate"}, Seed: 1, Runs: 2, Time: 3 * time.Second, Each: func(tr Trial) {
		require.Equal(t, 4, tr.Plan.Nodes)
	}})
	require.NoError(t, err)
	require.Equal(t, 2, r.Runs)
	made, err := harness.Simulate(t.Context(), record.Plan{Target: spec, On: record.OnVirtual, Time: 3 * time.Second, Seed: 1})
	require.NoError(t, err)
	require.Len(t, made.Nodes, 4)
}
