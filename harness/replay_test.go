package harness

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
)

// stored is a simulated run with all that a stored one has.
func stored(t *testing.T, p record.Plan) *record.Run {
	r, err := Simulate(context.Background(), p)
	require.NoError(t, err)
	return r
}

func TestEverySimulatedRunIsReplayedToTheSameHistory(t *testing.T) {
	for _, target := range simulable() {
		r := stored(t, record.Plan{Target: target, Nodes: 4, Time: time.Minute, Seed: 3, Faults: allFaults(target), Workloads: []string{"fence"}})
		again, err := PlanReplay(r, record.Plan{Seed: r.Seed})
		require.NoError(t, err)
		require.True(t, again.Exact)
		require.Empty(t, again.Notes)
		made, err := Simulate(context.Background(), again.Plan)
		require.NoError(t, err)
		require.NoError(t, Same(r.History, made.History), target)
	}
}

// nemesisDid is what the nemesis did in a run, and when after the cluster had settled.
func nemesisDid(h *history.History) (did []string) {
	var settled time.Duration
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.F == history.Settle {
			settled = op.Time
		}
		if op.Process == history.Nemesis && op.Type == history.OK {
			did = append(did, fmt.Sprintf("%v %s %s %v %+v", op.Time-settled, op.F, op.Fault.Name, op.Fault.Nodes, op.Fault.Changes))
		}
	}
	return did
}

func TestRecordedFaultsComeAgainWhateverTheLeader(t *testing.T) {
	// Faults of single messages come when the messages do, which is up to the election; so does what it is asked.
	r := stored(t, record.Plan{Target: "raft", Nodes: 5, Time: 30 * time.Second, Seed: 3, Faults: Drawn("blazingmq-term", nil, record.OnSim)})
	for _, with := range []record.Plan{{Seed: 4}, {Seed: 3, Target: "blazingmq-term"}, {Seed: 3, Options: map[string]string{"pre-vote": "true"}}} {
		again, err := PlanReplay(r, with)
		require.NoError(t, err)
		require.False(t, again.Exact)
		made := stored(t, again.Plan)
		require.Error(t, Same(r.History, made.History))
		require.NotEmpty(t, nemesisDid(r.History))
		require.Equal(t, nemesisDid(r.History), nemesisDid(made.History))
		once, err := PlanReplay(made, record.Plan{Seed: made.Seed})
		require.NoError(t, err)
		require.True(t, once.Exact, "a replay is a run like any other")
		require.NoError(t, Same(made.History, stored(t, once.Plan).History))
	}
}

func TestAHistoryWithoutItsRunIsReplayed(t *testing.T) {
	for _, workload := range []string{"fence", "record"} {
		r := stored(t, record.Plan{Target: "raft", Nodes: 3, Time: 20 * time.Second, Seed: 8, Faults: []string{"isolate"}, Workloads: []string{workload}})
		again, err := PlanReplay(&record.Run{History: r.History}, record.Plan{Seed: r.Seed})
		require.NoError(t, err)
		require.False(t, again.Exact)
		require.Equal(t, []string{workload}, again.Plan.Workloads)
		require.Greater(t, again.Plan.Time, 5*time.Second)
		require.LessOrEqual(t, again.Plan.Time, 20*time.Second)
		require.NotEmpty(t, nemesisDid(stored(t, again.Plan).History))
	}
}

func TestAReplaySaysWhatIsInItsWay(t *testing.T) {
	r := stored(t, record.Plan{Target: "raft", Nodes: 3, Time: 10 * time.Second, Seed: 8, Faults: []string{"isolate"}})
	_, err := PlanReplay(&record.Run{History: &history.History{}}, record.Plan{})
	require.ErrorContains(t, err, "does not begin with")
	require.True(t, IsUsage(err))

	_, err = PlanReplay(r, record.Plan{Seed: 8, Target: "raft-prevote", Options: map[string]string{"sacle": "1"}})
	require.NoError(t, err, "the run itself says what is wrong with its plan")
	_, err = PlanReplay(r, record.Plan{Seed: 8, Target: "rafft", Options: map[string]string{"scale": "1"}})
	require.ErrorContains(t, err, "rafft")

	cut := *r
	cut.History = &history.History{Ops: r.History.Ops[:len(r.History.Ops)-1]}
	again, err := PlanReplay(&cut, record.Plan{Seed: 8})
	require.NoError(t, err)
	require.False(t, again.Exact)
	again.Plan.Options = r.Plan.Options // all of them are told in its setup
	require.Equal(t, r.Plan, again.Plan)
	require.Contains(t, again.Notes[0], "cut short")

	setup := *r.Setup()
	setup.Version = "0.0.1"
	ops := append([]history.Op(nil), r.History.Ops...)
	ops[0].Setup = &setup
	old := &history.History{Ops: ops}
	require.NoError(t, Same(old, r.History))
	ops[50].Node = "n9"
	require.ErrorContains(t, Same(old, r.History), "op 50 differs: recorded {")
	require.ErrorContains(t, Same(&history.History{Ops: ops[:50]}, r.History), "op 50 differs: recorded nothing, now {")
}

// The servers that a target has besides its nodes come by themselves, whether they elect or not.
func TestReplayHasAsManyNodesAsTheRun(t *testing.T) {
	for _, peers := range []bool{false, true} {
		setup := history.Setup{Target: "etcd-election", Cluster: record.OnVirtual, Version: Version, Seed: 3, Peers: peers,
			Nodes: []string{"n1", "n2", "n3", "n4", "s1", "s2", "s3"}, Servers: []string{"s1", "s2", "s3"}}
		h, err := history.New([]history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &setup}})
		require.NoError(t, err)
		again, err := PlanReplay(&record.Run{History: h}, record.Plan{Seed: 3})
		require.NoError(t, err)
		require.Equal(t, 4, again.Plan.Nodes)
	}
}

// A plan that was read is the one that was written, or another, whatever its run did.
func TestAPlanThatWasEditedIsNotReplayed(t *testing.T) {
	drawn := record.Plan{Target: "raft", Nodes: 4, Time: 30 * time.Second, Seed: 3, Faults: Drawn("raft", nil, record.OnSim), Workloads: []string{"fence"}}
	r := stored(t, drawn)
	recorded, err := PlanReplay(r, record.Plan{Seed: 4})
	require.NoError(t, err)
	for name, p := range map[string]record.Plan{
		"drawn": drawn, "recorded": recorded.Plan, "written": scenarioPlan(t, "hand-over-cut", record.Plan{Seed: 3}),
	} {
		t.Run(name, func(t *testing.T) {
			made := stored(t, p)
			made.Dir = t.TempDir()
			require.NoError(t, record.Save(made))
			require.NoError(t, record.WriteHistory(made.Dir, made.History))
			for edited, edit := range map[string]func(p *record.Plan){
				"no":       func(*record.Plan) {},
				"require":  func(p *record.Plan) { p.Require = []string{"quorum"} },
				"seed":     func(p *record.Plan) { p.Seed++ },
				"schedule": func(p *record.Plan) { p.Schedule = append(p.Schedule, nemesis.Step{Fault: "kill"}) },
			} {
				r, err := record.Read(made.Dir)
				require.NoError(t, err)
				edit(&r.Plan)
				_, err = PlanReplay(r, record.Plan{Seed: made.Seed})
				_, _, again := PlanAgain(r, "")
				if edited == "no" || edited == "require" {
					require.NoError(t, err)
					require.NoError(t, again)
					continue
				}
				require.EqualError(t, err, "replay: the plan in run.json is not the one that the run was made by", edited)
				require.EqualError(t, again, "the plan in run.json is not the one that the run was made by", edited)
			}
		})
	}
}

// A step at a run's end does nothing, and no new plan may have one; but runs were made by such plans.
func TestAStepAtTheEndIsRefusedOfNewPlansAlone(t *testing.T) {
	p := record.Plan{Target: "raft", On: record.OnSim, Nodes: 3, Time: 10 * time.Second, Schedule: nemesis.Schedule{{At: 10 * time.Second, Fault: "kill"}}}
	require.ErrorContains(t, Check(p), "step 1: kill begins at 10s, and the run ends at 10s")
	require.NoError(t, CheckAgain(p))
	p.Schedule[0].For = 1
	require.ErrorContains(t, CheckAgain(p), "step 1: kill ends at 10.000000001s, and the run at 10s")
}
