package hunt

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness"
	"recount/harness/record"
	"recount/harness/shrink"
	"recount/nemesis"
	"recount/targets"
)

// known are the elections that break a property, as they are or with an option that makes them wrong on purpose. That two
// have a lease where clocks drift apart is not among them: it takes more of a drift than a hunt draws, as the scenario
// lease-clock-drift has it.
var known = []struct {
	target, option, property string
	workload                 string   // without which nothing is seen of the property
	faults                   []string // to draw from; all, where none are named
	most                     int      // faults that it takes
	least                    string   // the schedule that it takes, where it is known
}{
	// One link is cut, and its ends depose each other.
	{"blazingmq-term", "", "no-ping-pong", "", links, 1, "cut-link"},
	{"raft", "", "no-ping-pong", "", links, 1, "cut-link"},
	// Who was cut off comes back with a higher term.
	{"raft", "", "sticky-leader", "", isolation, 1, "isolate and heal"},
	{"blazingmq-term", "", "sticky-leader", "", isolation, 1, "isolate and heal"},
	// Who restarts in time votes again.
	{"raft", "forget-vote=true", "single-leader-per-term", "", deaths, 1, "kill-all and heal"},
	{"raft", "forget-vote=true", "vote-once", "", nil, 4, ""},

	{"raft", "synchronized-timeouts=true", "elects", "", nil, 2, ""},
	{"raft", "ignore-higher-term=true", "agreement", "", nil, 2, ""},
	{"blazingmq-term", "forget-term=true", "single-leader-per-term", "", nil, 4, ""},
	{"raft", "unsynced-vote=true", "single-leader-per-term", "", outages, 4, ""},
	{"raft", "no-quorum-check=true", "linearizable", "register", nil, 2, ""},
	{"raft", "no-heartbeat-timeout=true", "elects", "", nil, 4, ""},
	{"raft", "vote-twice=true", "single-leader-per-term", "", nil, 2, ""},
	{"raft", "stale-log=true", "linearizable", "register", nil, 2, ""},
	{"raft", "minority-quorum=true", "single-leader-per-term", "", nil, 2, ""},
	{"raft", "minority-quorum=true", "quorum", "", nil, 2, ""},
	{"raft-prevote", "no-backtrack=true", "progress", "register", isolation, 4, ""},
	{"raft", "leader-by-vote=true", "learns-leader", "", nil, 4, ""},
	{"leader-lease", "clock=wall", "exclusive-leadership", "", nil, 4, ""},
	{"raft-lease-reads", "lease-from-answer=true", "linearizable", "wander", []string{"delay", "receive-only"}, 4, ""},
	{"etcd-raft", "reads=lease", "linearizable", "wander", isolation, 4, ""},

	{"highest-address", "", "elects", "", nil, 4, ""},
	{"random-backoff", "", "exclusive-leadership", "", nil, 1, ""},
	{"heartbeat-only", "", "exclusive-leadership", "", nil, 2, ""},
	{"bully-no-timeout", "", "elects", "", nil, 4, ""},
	{"bully", "", "exclusive-leadership", "", nil, 2, ""},
	{"bully", "", "no-ping-pong", "", restarts, 1, ""}, // the highest node dies and takes the post back, again and again
	{"bully-quorum", "", "no-ping-pong", "", restarts, 4, ""},
	{"next-in-line", "", "exclusive-leadership", "", nil, 2, ""},
	{"candidate-ordinary", "", "exclusive-leadership", "", nil, 2, ""},
	{"invitation", "", "exclusive-leadership", "", nil, 0, ""},
	{"ring", "", "exclusive-leadership", "", nil, 2, ""},
	{"ring-max", "", "exclusive-leadership", "", nil, 2, ""},
	{"stable-leader", "", "exclusive-leadership", "", nil, 2, ""},
	{"blazingmq-naive", "", "exclusive-leadership", "", nil, 4, ""},
	{"blazingmq-naive", "", "ordered-updates", "updates", nil, 4, ""},
	{"leader-lease", "", "fencing", "record", nil, 4, ""},
	{"blob-lease", "", "elects", "", nil, 4, ""},
	{"blob-lease", "", "fencing", "record", nil, 4, ""},
	{"zookeeper-recipe", "", "fencing", "record", nil, 4, ""},
	{"etcd-election", "", "fencing", "record", nil, 4, ""},
	{"kubernetes-lease", "", "exclusive-leadership", "", nil, 4, ""},
	{"kubernetes-lease", "", "fencing", "record", nil, 4, ""},
}

// The faults that the sources tell of.
var (
	links     = []string{"cut-link", "isolate", "flap-link", "pause"}
	isolation = []string{"isolate"}
	deaths    = []string{"restart", "kill", "kill-all"}
	outages   = []string{"crash", "lose-writes", "isolate"} // that leave what is synced
	restarts  = []string{"restart-storm", "unstable-top"}
)

// What is known to break is found, takes little, and comes again: the same history, a hundred times.
func TestWhatIsKnownToBreakIsFoundShrunkAndRepeated(t *testing.T) {
	for i, k := range known {
		t.Run(k.target+" "+k.option+" "+k.property, func(t *testing.T) {
			if testing.Short() && i > 4 {
				t.Skip("the first are enough for -short")
			}
			t.Parallel()
			cfg := after(k.target, k.property, 1)
			if name, value, given := strings.Cut(k.option, "="); given {
				cfg.Options = map[string][]string{name: {value}}
			}
			if k.workload != "" {
				cfg.Workloads = []string{k.workload}
			}
			if k.faults != nil {
				cfg.Faults = k.faults
			}
			r := hunted(t, cfg)
			require.Len(t, r.Findings, 1, "in %d runs", r.Runs)
			require.Equal(t, r.Runs, r.Findings[0].Run, "it stops at the first")
			found, err := harness.Simulate(t.Context(), r.Findings[0].Plan)
			require.NoError(t, err)
			require.Equal(t, r.Findings[0].Why, broken(found, k.property).Why)

			how := shrink.Config{Property: k.property, Need: 1, Of: 12, Measure: 8}
			if k.least != "" {
				how = shrink.Config{Property: k.property}
			}
			s, err := shrink.Shrink(t.Context(), found, how)
			require.NoError(t, err)
			t.Logf("run %d, %d tried, %d runs: %d nodes, %v, %s; %s", r.Runs, s.Tried, s.Runs, s.Plan.Nodes, s.Plan.Time, words(s.Plan.Schedule), s.Rate())
			require.False(t, s.Interrupted)
			require.LessOrEqual(t, len(s.Plan.Schedule), k.most, words(s.Plan.Schedule))
			if k.least != "" {
				require.Equal(t, k.least, words(s.Plan.Schedule))
				require.LessOrEqual(t, s.Plan.Nodes, 3)
				require.Empty(t, s.Plan.Workloads)
			}
			if k.option != "" {
				require.Equal(t, found.Options, s.Run.Options, "it is the option that breaks it")
			}
			repeats(t, s)
			isInTheScenario(t, s)
		})
	}
}

// broken is the verdict on a property that a run broke, or nil.
func broken(r *record.Run, property string) *record.Verdict {
	i := slices.IndexFunc(r.Verdicts, func(v record.Verdict) bool { return Wanted(&v, property) })
	if i < 0 {
		return nil
	}
	return &r.Verdicts[i]
}

// words are the faults of a schedule, and whether they heal in it.
func words(s nemesis.Schedule) string {
	var all []string
	for _, st := range s {
		if all = append(all, st.Fault); st.For > 0 {
			all[len(all)-1] += " and heal"
		}
	}
	return strings.Join(all, ", ")
}

func repeats(t *testing.T, s *shrink.Result) {
	again, err := harness.PlanReplay(s.Run, record.Plan{Seed: s.Plan.Seed})
	require.NoError(t, err)
	require.True(t, again.Exact)
	for range 100 {
		r, err := harness.Simulate(t.Context(), again.Plan)
		require.NoError(t, err)
		require.NoError(t, harness.Same(s.Run.History, r.History))
		require.Equal(t, s.Verdict.Why, broken(r, s.Property).Why)
	}
}

func isInTheScenario(t *testing.T, s *shrink.Result) {
	text, err := s.Scenario("")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "least.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o644))
	scenario, err := harness.LoadScenario(file)
	require.NoError(t, err)
	r, err := harness.Simulate(context.Background(), scenario.Plan(record.Plan{Seed: *scenario.Seed}))
	require.NoError(t, err)
	require.NoError(t, harness.Same(s.Run.History, r.History))
	require.Equal(t, record.StatusBroken, r.Status)
	require.Equal(t, checkers.Invalid, broken(r, s.Property).Verdict)
}

// Every foot-gun that some election has is known, by a property that it breaks.
func TestEveryFootGunIsKnown(t *testing.T) {
	for _, target := range targets.All() {
		for _, o := range target.Options {
			if target.Node == nil || len(o.Breaks) == 0 {
				continue
			}
			shown := false
			for _, k := range known {
				shown = shown || strings.HasPrefix(k.option, o.Name+"=") && slices.Contains(o.Breaks, k.property)
			}
			require.True(t, shown, o.Name)
		}
	}
}

// A hunt has accused bully-quorum of leading without a majority in reach. n3 reached n1 alone, which yielded to it and bade n2
// acknowledge it, and that reached n3: no link carried messages both ways.
func TestAnAcknowledgementAskedForByAnotherIsNoBreach(t *testing.T) {
	r, err := harness.Glance(t.Context(), record.Plan{
		Target: "bully-quorum", On: record.OnSim, Nodes: 3, Time: 5 * time.Second, Seed: 2969167112, Workloads: []string{"transfer"},
		Schedule: nemesis.Schedule{
			{At: 300 * time.Millisecond, Fault: "lose-message", Nodes: nemesis.Named{"all", "all"}, With: map[string]string{"count": "7", "kind": "ELECTION", "nth": "3"}},
			{
				At: 600 * time.Millisecond, Fault: "reorder", Nodes: nemesis.Named{"minority", "others"}, For: 2200 * time.Millisecond,
				With: map[string]string{"chance": "49.5%", "delay": "46.4ms"},
			},
			{At: 896 * time.Millisecond, Fault: "lose-writes", Nodes: nemesis.Named{"leader"}, For: 3510 * time.Millisecond},
			{At: 1196 * time.Millisecond, Fault: "majorities-ring"},
		},
	})
	require.NoError(t, err)
	for _, v := range r.Verdicts {
		if v.Property == "quorum" {
			require.Equal(t, checkers.Invalid, v.Verdict, "n3 led")
			require.True(t, v.Excused, "and nobody promises that it does not")
		}
	}
}
