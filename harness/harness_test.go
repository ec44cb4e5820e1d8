package harness

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
	"recount/internal/testlong"
	"recount/nemesis"
	"recount/report"
	"recount/scenarios"
	"recount/targets"
)

var runs = flag.Int("runs", 100, "random-fault runs of each correct election")

// simulate makes a simulated run and returns its history, as recorded and as bytes on disk.
func simulate(t testing.TB, p record.Plan) (*history.History, []byte) {
	p.On = record.OnSim
	s, err := resolve(p)
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "recount-test")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	r := &run{subject: s, Config: Config{Progress: func(string) {}}}
	require.NoError(t, r.record(context.Background(), dir))
	h, err := r.recorder.History()
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(dir, "history.jsonl"))
	require.NoError(t, err)
	return h, b
}

func verdicts(h *history.History) map[string]checkers.Result {
	all := map[string]checkers.Result{}
	for _, r := range fed(checkers.Begin(), h).End(context.Background()) {
		all[r.Property] = r
	}
	return all
}

func TestASimulationInMemoryIsTheRunThatIsKept(t *testing.T) {
	p := record.Plan{Target: "raft", Nodes: 4, Time: time.Minute, Seed: 5, Faults: allFaults("raft"), Workloads: []string{"fence"}}
	kept, _ := simulate(t, p)
	r, err := Simulate(context.Background(), p)
	require.NoError(t, err)
	require.Equal(t, kept.Ops, r.History.Ops)
	require.Equal(t, record.StatusHeld, r.Status)
	again := verdicts(kept)
	for _, v := range r.Verdicts {
		want := again[v.Property]
		want.Drawing, v.Drawing = nil, nil // porcupine draws what is equal in any order
		require.Equal(t, want, v.Result)
	}
	require.True(t, slices.ContainsFunc(r.Verdicts, func(v record.Verdict) bool { return v.Promised }))

	var ops []history.Op
	glanced, err := Glance(context.Background(), p, func(op *history.Op) { ops = append(ops, *op) })
	require.NoError(t, err)
	require.Nil(t, glanced.History)
	require.Equal(t, kept.Ops, ops)
	require.Equal(t, r.Standing, glanced.Standing)
	require.Len(t, glanced.Verdicts, len(r.Verdicts))
	for i := range r.Verdicts {
		r.Verdicts[i].Drawing, glanced.Verdicts[i].Drawing = nil, nil // porcupine draws what is equal in any order
	}
	require.Equal(t, r.Verdicts, glanced.Verdicts)
	require.Less(t, len(glanced.Frame().Ops), len(ops)/10)
	require.Equal(t, r.History.Happened(), glanced.Frame().Happened())
}

func TestARunMayBeKeptCompressed(t *testing.T) {
	p := record.Plan{Target: "raft", On: record.OnSim, Nodes: 3, Time: 10 * time.Second, Seed: 5}
	made, err := Run(context.Background(), p, Config{Results: t.TempDir(), Compress: true})
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(made.Dir, "history.jsonl"))
	read, err := record.Read(made.Dir)
	require.NoError(t, err)
	require.Equal(t, made.History.Ops, read.History.Ops)
	page, err := os.ReadFile(report.Page(made))
	require.NoError(t, err)
	require.Contains(t, string(page), `href="history.jsonl.gz"`)
}

func TestAPromiseRestsOnItsAssumption(t *testing.T) {
	verdict := func(r *record.Run, property string) record.Verdict {
		return r.Verdicts[slices.IndexFunc(r.Verdicts, func(v record.Verdict) bool { return v.Property == property })]
	}
	promised := func(fault string) bool {
		r, err := Simulate(context.Background(), record.Plan{Target: "bully", Nodes: 3, Time: 20 * time.Second, Seed: 2, Faults: []string{fault}})
		require.NoError(t, err)
		require.NotEmpty(t, verdict(r, "elects").While)
		return verdict(r, "elects").Promised
	}
	require.True(t, promised("kill"))
	require.True(t, promised("crash"), "the links of a dead machine are no fault of the network")
	require.False(t, promised("isolate"), "bully takes it that all messages arrive")

	p := scenarioPlan(t, "paused-leader", record.Plan{Target: "raft", Seed: 1})
	r, err := Simulate(context.Background(), p)
	require.NoError(t, err)
	require.Equal(t, checkers.Invalid, verdict(r, "fencing").Verdict)
	require.False(t, verdict(r, "fencing").Promised, "a resource that only records refuses nobody")
	require.Equal(t, record.StatusHeld, r.Status)
}

// allFaults are those that a simulated target can have.
func allFaults(target string) (names []string) {
	for _, f := range nemesis.All() {
		if !f.Own && (!f.Asks || takes(target, nil, record.OnSim, handsOver)) && (!f.Members || takes(target, nil, record.OnSim, reconfigures)) {
			names = append(names, f.Name)
		}
	}
	return names
}

func scenarioPlan(t testing.TB, name string, p record.Plan) record.Plan {
	s, err := LoadScenario(name)
	require.NoError(t, err)
	return s.Plan(p)
}

// simulable are the targets that the simulator can run.
func simulable() (names []string) {
	for _, t := range targets.All() {
		if t.Node != nil {
			names = append(names, t.Name)
		}
	}
	return names
}

func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	for i, target := range simulable() {
		plans := []record.Plan{{Target: target, Nodes: 5, Time: time.Minute, Seed: 11, Faults: allFaults(target), Workloads: []string{"fence"}}}
		names := scenarios.Names()
		if !testlong.Asked() {
			names = names[i%len(names):][:1]
		}
		for _, name := range names {
			if p := scenarioPlan(t, name, record.Plan{Target: target, Seed: 11}); Check(p) == nil { // not every election can be asked everything
				plans = append(plans, p)
			}
		}
		for _, p := range plans {
			_, a := simulate(t, p)
			_, b := simulate(t, p)
			require.Equal(t, string(a), string(b), "%s %s", target, p.Scenario)
			p.Seed++
			_, c := simulate(t, p)
			require.NotEqual(t, string(a), string(c), "%s %s: another seed is another run", target, p.Scenario)
		}
	}
}

func TestScenariosShowWhatTheyAreThereToShow(t *testing.T) {
	const valid, invalid = checkers.Valid, checkers.Invalid
	for _, c := range []struct {
		scenario, target, property string
		want                       checkers.Verdict
	}{
		{"ping-pong", "blazingmq-term", "no-ping-pong", invalid},
		{"ping-pong", "raft", "no-ping-pong", invalid},
		{"ping-pong", "blazingmq-scouting", "no-ping-pong", valid},
		{"ping-pong", "raft-prevote", "no-ping-pong", valid},
		{"non-sticky-leader", "blazingmq-term", "sticky-leader", invalid},
		{"non-sticky-leader", "raft", "sticky-leader", invalid},
		{"non-sticky-leader", "blazingmq-scouting", "sticky-leader", valid},
		{"non-sticky-leader", "raft-prevote", "sticky-leader", valid},
		{"non-sticky-leader", "blazingmq-term", "bounded-terms", invalid},
		{"non-sticky-leader", "raft", "bounded-terms", invalid},
		{"non-sticky-leader", "blazingmq-scouting", "bounded-terms", valid},
		{"non-sticky-leader", "raft-prevote", "bounded-terms", valid},
		{"flapping-link", "raft", "no-ping-pong", invalid},
		{"flapping-link", "raft-prevote", "no-ping-pong", valid},
		{"power-failure", "raft", "single-leader-per-term", valid},
		{"power-failure", "raft-prevote", "single-leader-per-term", valid},
		{"power-failure", "blazingmq-term", "single-leader-per-term", valid},
	} {
		t.Run(fmt.Sprintf("%s/%s/%s", c.scenario, c.target, c.property), func(t *testing.T) {
			for seed := range uint64(20) {
				h, _ := simulate(t, scenarioPlan(t, c.scenario, record.Plan{Target: c.target, Seed: seed}))
				got := verdicts(h)
				require.Equal(t, c.want, got[c.property].Verdict, "seed %d: %s", seed, got[c.property].Why)
				require.Equal(t, valid, got["single-leader-per-term"].Verdict, "seed %d", seed)
			}
		})
	}
}

// A vote that was not synced is safe when processes die, and forgotten when machines do.
func TestAVoteThatIsNotSynced(t *testing.T) {
	for _, name := range []string{"power-failure", "unsynced-vote", "unsynced-vote-kill"} {
		p := scenarioPlan(t, name, record.Plan{})
		require.NotEqual(t, checkers.Unknown, p.Expect["single-leader-per-term"])
		for p.Seed = range uint64(20) {
			r, err := Simulate(context.Background(), p)
			require.NoError(t, err)
			require.Equal(t, record.StatusHeld, r.Status, "%s, seed %d", name, p.Seed)
		}
	}
}

// TestPingPongIsBetweenTheEndsOfTheCutLink looks at the claims themselves, not at a checker's opinion of them.
func TestPingPongIsBetweenTheEndsOfTheCutLink(t *testing.T) {
	for seed := range uint64(20) {
		h, _ := simulate(t, scenarioPlan(t, "ping-pong", record.Plan{Target: "blazingmq-term", Seed: seed}))
		var ends []string
		led := map[string]int{}
		for _, op := range h.Ops {
			switch {
			case op.F == history.Inject && op.Type == history.OK:
				ends = op.Fault.Nodes
			case op.F == history.Heal && op.Type == history.Invoke:
				ends = nil
			case ends != nil && op.F == history.Announce && op.View.Claims():
				require.Contains(t, ends, op.Node)
				led[op.Node]++
			}
		}
		require.Len(t, led, 2)
		for n, times := range led {
			require.Greater(t, times, 2, "seed %d: %s", seed, n)
		}
	}
}

// TestCorrectElections breaks elections in every way that leaves them what they rest on. None may break a promise, ever.
func TestCorrectElections(t *testing.T) {
	for _, name := range []string{"raft", "raft-prevote", "blazingmq-term", "blazingmq-scouting"} {
		target, err := targets.Find(name)
		require.NoError(t, err)
		options, err := target.Parse(nil)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			tally := map[string]map[checkers.Verdict]int{}
			inParallel(*runs, func(seed uint64) {
				h, _ := simulate(t, record.Plan{
					Target: name, Nodes: 3 + int(seed%5), Time: time.Minute, Seed: seed, Faults: Drawn(name, nil, record.OnSim), Workloads: []string{"fence"},
				})
				for property, r := range verdicts(h) {
					promised, _ := target.Promised(options, property)
					mu.Lock()
					if tally[property] == nil {
						tally[property] = map[checkers.Verdict]int{}
					}
					tally[property][r.Verdict]++
					mu.Unlock()
					if promised && r.Verdict == checkers.Invalid {
						t.Errorf("seed %d, %d nodes: %s: %s", seed, 3+int(seed%5), property, r.Why)
					}
				}
			})
			for _, property := range sortedKeys(tally) {
				t.Logf("%-22s %v", property, tally[property])
			}
			require.Greater(t, tally["single-leader-per-term"][checkers.Valid], *runs*9/10, "most runs decide it")
			require.Greater(t, tally["fencing"][checkers.Valid], *runs*9/10)
		})
	}
}

// inParallel calls f with every number below n, on all cores.
func inParallel(n int, f func(uint64)) {
	numbers := make(chan uint64)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for k := range numbers {
				f(k)
			}
		})
	}
	for k := range n {
		numbers <- uint64(k)
	}
	close(numbers)
	wg.Wait()
}

func TestAForgottenVoteIsFoundAndRepeats(t *testing.T) {
	p := record.Plan{
		Target: "raft", Options: map[string]string{"forget-vote": "true"}, Nodes: 3, Time: time.Minute, Faults: []string{"kill"},
	}
	for p.Seed = 0; p.Seed < 10_000; p.Seed++ {
		h, _ := simulate(t, p)
		if verdicts(h)["single-leader-per-term"].Verdict == checkers.Invalid {
			break
		}
	}
	require.Less(t, p.Seed, uint64(10_000))
	t.Logf("found by seed %d", p.Seed)
	for range 20 {
		h, _ := simulate(t, p)
		require.Equal(t, checkers.Invalid, verdicts(h)["single-leader-per-term"].Verdict)
	}
}

// What was simulated for another purpose is kept without being made again.
func TestASimulatedRunIsKeptAsItWasMade(t *testing.T) {
	p := record.Plan{Target: "raft", On: record.OnSim, Nodes: 4, Time: 20 * time.Second, Seed: 5, Faults: allFaults("raft"), Workloads: []string{"fence"}}
	made, err := Run(t.Context(), p, Config{Results: t.TempDir()})
	require.NoError(t, err)
	kept, err := Simulate(t.Context(), p)
	require.NoError(t, err)
	require.NoError(t, Keep(t.Context(), kept, t.TempDir()))
	want, err := os.ReadFile(filepath.Join(made.Dir, record.HistoryFile))
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(kept.Dir, record.HistoryFile))
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	require.Equal(t, made.Plan, kept.Plan)
	require.Equal(t, made.Status, kept.Status)
}
