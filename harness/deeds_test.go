package harness

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
	"recount/targets"
)

// TestAnAssumptionHeals has a store restarted: what breaks an election or more after that is held against its clients, what breaks before
// is not, and what never healed excuses for good.
func TestAnAssumptionHeals(t *testing.T) {
	target, err := targets.Find("etcd-election")
	require.NoError(t, err)
	const elect = 4 * time.Second
	fault := func(at time.Duration, f history.F, is history.Type, state history.ProcState) history.Op {
		return history.Op{Time: at, Process: history.Nemesis, F: f, Type: is, Fault: &history.Fault{
			ID: 1, Name: "kill", Changes: history.ChangesOf(history.Proc{Node: "n1", State: state}),
		}}
	}
	ops := []history.Op{
		{Process: history.Harness, F: history.Begin, Type: history.OK, Setup: &history.Setup{
			Target: "etcd-election", Cluster: record.OnSim, Nodes: []string{"n1", "n2", "n3"}, Bounds: history.Bounds{Elect: elect},
		}},
		fault(3*time.Second, history.Inject, history.Invoke, history.Down), fault(3*time.Second, history.Inject, history.OK, history.Down),
		fault(4*time.Second, history.Heal, history.Invoke, history.Up), fault(4*time.Second, history.Heal, history.OK, history.Up),
	}
	excused := func(ops []history.Op, r checkers.Result) bool {
		h, err := history.New(ops)
		require.NoError(t, err)
		p, known := promises(&record.Run{Target: "etcd-election", Cluster: record.OnSim, History: h})
		require.True(t, known)
		_, _, excused := p.of(&r)
		return excused
	}
	require.True(t, target.Suspended("elects", ops[1].Fault.Changes))
	require.False(t, target.Excused("elects", ops[1].Fault.Changes))
	broken := func(from, to time.Duration) checkers.Result {
		return checkers.Result{Property: "elects", Verdict: checkers.Invalid, From: from, To: to}
	}
	require.True(t, excused(ops, broken(3500*time.Millisecond, 20*time.Second)), "the store was down then")
	require.True(t, excused(ops, broken(8*time.Second, 20*time.Second)), "it had just come back")
	require.True(t, excused(ops, broken(2*time.Second, 20*time.Second)), "it went down meanwhile")
	require.False(t, excused(ops, broken(8*time.Second+1, 20*time.Second)))
	require.False(t, excused(ops, broken(time.Second, 3*time.Second-1)), "it was there until then")
	require.True(t, excused(ops, checkers.Result{Property: "elects"}), "nobody knows when it would have broken")
	perhaps := func(from, to time.Duration) checkers.Result {
		return checkers.Result{Property: "elects", Doubt: &checkers.Lapse{From: from, To: to}}
	}
	require.True(t, excused(ops, perhaps(2*time.Second, 3*time.Second)), "if it broke, the store was down then")
	require.False(t, excused(ops, perhaps(time.Second, 3*time.Second-1)), "if it broke, the store was there")
	require.False(t, excused(ops, perhaps(8*time.Second+1, 20*time.Second)))
	require.True(t, excused(ops[:3], broken(time.Minute, 2*time.Minute)), "it never came back")
	require.True(t, excused(ops[:2], broken(time.Minute, 2*time.Minute)), "nobody knows whether it is there")
	drifted := slices.Clone(ops)
	for i, drift := range []float64{0.5, 0.5, 0, 0} {
		f := *ops[1+i].Fault
		f.Changes = history.ChangesOf(history.Clock{Node: "n1", Drift: drift})
		drifted[1+i].Fault = &f
	}
	require.True(t, excused(drifted, broken(8*time.Second, 20*time.Second)))
	require.False(t, excused(drifted, broken(8*time.Second+1, 20*time.Second)), "its clock was right again")
	delayed := slices.Clone(ops)
	for i, d := range []time.Duration{3 * time.Second, 3 * time.Second, 0, 0} {
		f := *ops[1+i].Fault
		f.Changes = history.ChangesOf(history.Link{From: "n2", To: "n1", LinkState: history.LinkState{Delay: d, Jitter: d / 3}})
		delayed[1+i].Fault = &f
	}
	require.True(t, excused(delayed, broken(12*time.Second, 20*time.Second)), "what it had kept may have come until 8 s")
	require.False(t, excused(delayed, broken(12*time.Second+1, 20*time.Second)))
	wiped := slices.Clone(ops)
	for i, is := range []bool{true, true, false, false} {
		f := *ops[1+i].Fault
		f.Changes = history.ChangesOf(history.Disk{Node: "n1", DiskState: history.DiskState{Wiped: is}})
		wiped[1+i].Fault = &f
	}
	require.True(t, excused(wiped, broken(time.Minute, 2*time.Minute)), "what was lost is lost for good")
	failed := slices.Clone(ops[:3])
	failed[2].Type = history.Fail
	require.True(t, excused(failed, broken(7*time.Second, 20*time.Second)), "it may have been away until then")
	require.False(t, excused(failed, broken(7*time.Second+1, 20*time.Second)), "it never was away")
	doubtful := slices.Clone(ops)
	doubtful[2].Type = history.Info
	require.True(t, excused(doubtful, broken(8*time.Second, 20*time.Second)))
	require.False(t, excused(doubtful, broken(8*time.Second+1, 20*time.Second)), "it was there again, whether it had gone or not")
	doubtful[4].Type = history.Info
	require.True(t, excused(doubtful, broken(time.Minute, 2*time.Minute)), "nobody knows whether it came back")
	untold := slices.Clone(ops)
	untold[1].Fault, untold[2].Time = &history.Fault{ID: 1, Name: "kill"}, 3500*time.Millisecond
	require.True(t, excused(untold, broken(3*time.Second, 3400*time.Millisecond)), "it may have been away since the kill began")
	sprung := slices.Clone(ops)
	sprung[1] = history.Op{Time: 2 * time.Second, Process: history.Harness, F: history.Exit, Type: history.Info, Node: "n1", Fault: ops[1].Fault}
	sprung[2] = fault(3*time.Second, history.Change, history.Invoke, history.Down)
	sprung = slices.Insert(sprung, 3, fault(3*time.Second, history.Change, history.OK, history.Down))
	require.True(t, excused(sprung, broken(time.Second, 2*time.Second)), "a trap had ended it before the nemesis took that up")
	require.False(t, excused(sprung, broken(time.Second, 2*time.Second-1)))
	require.False(t, excused(sprung, broken(8*time.Second+1, 20*time.Second)))
	other := broken(time.Minute, 2*time.Minute)
	other.Property = "agreement"
	require.False(t, excused(ops, other), "that is promised whatever becomes of the store")
}

// TestAnAssumptionHealsForWhoIsJudged has a store go away and come back, and nobody lead any more: what is left of that once an election
// should be over is held against the candidates.
func TestAnAssumptionHealsForWhoIsJudged(t *testing.T) {
	const elect, poll = 4 * time.Second, 100 * time.Millisecond
	var ops []history.Op
	add := func(op history.Op) { ops = append(ops, op) }
	add(history.Op{Process: history.Harness, F: history.Begin, Type: history.OK, Setup: &history.Setup{
		Target: "etcd-election", Cluster: record.OnSim, Store: "n1", Nodes: []string{"n1", "n2", "n3"},
		Bounds: history.Bounds{Silence: time.Second, Elect: elect, Poll: poll},
	}})
	for at := poll; at <= 30*time.Second; at += poll {
		for f, state := range map[history.F]history.ProcState{history.Inject: history.Down, history.Heal: history.Up} {
			if state == history.Down && at == 5*time.Second || state == history.Up && at == 6*time.Second {
				did := &history.Fault{ID: 1, Name: "kill", Changes: history.ChangesOf(history.Proc{Node: "n1", State: state})}
				add(history.Op{Time: at, Process: history.Nemesis, F: f, Type: history.Invoke, Fault: did})
				add(history.Op{Time: at, Process: history.Nemesis, F: f, Type: history.OK, Fault: did})
			}
		}
		for i, node := range []string{"n1", "n2", "n3"} {
			v := history.View{Term: 1, Role: history.Follower}
			switch {
			case node == "n1":
				v.Role = history.Server
			case at < 5*time.Second && node == "n2":
				v.Role = history.Leader
			}
			add(history.Op{Time: at, Process: history.Process(i), F: history.Observe, Type: history.Invoke, Node: node})
			add(history.Op{Time: at, Process: history.Process(i), F: history.Observe, Type: history.OK, Node: node, View: v})
		}
	}
	add(history.Op{Time: 31 * time.Second, Process: history.Harness, F: history.End, Type: history.OK})
	h, err := history.New(ops)
	require.NoError(t, err)
	r := &record.Run{Target: "etcd-election", Cluster: record.OnSim, History: h}
	Judge(t.Context(), r)
	v := r.Verdicts[slices.IndexFunc(r.Verdicts, func(v record.Verdict) bool { return v.Property == "elects" })]
	require.Equal(t, checkers.Invalid, v.Verdict, v.Why)
	require.True(t, v.Promised, v.Why)
	require.False(t, v.Excused, v.Why)
	require.Equal(t, 6*time.Second+elect+1, v.From, v.Why)
}

// A packet suffers its link and its port, one after the other.
func TestWhatALinkAndItsPortHoldUpLingers(t *testing.T) {
	slow := func(to string, port int, d time.Duration) history.Link {
		return history.Link{From: "n1", To: to, Port: port, LinkState: history.LinkState{Delay: d}}
	}
	var f inForce
	did := history.ChangesOf(slow("n2", 0, 2*time.Second), slow("n2", 80, time.Second), slow("n3", 0, 500*time.Millisecond), slow("n3", 80, math.MaxInt64))
	f.add(&deed{tried: did, did: did, came: history.OK})
	require.Equal(t, time.Duration(math.MaxInt64), f.lingers())
	did = history.ChangesOf(slow("n3", 80, 0))
	f.add(&deed{tried: did, did: did, came: history.OK})
	require.Equal(t, 3*time.Second, f.lingers())
}

// TestWhatMayBeInForceIsKeptWithinBounds has the nemesis do ever other things, and nobody know what came of any.
func TestWhatMayBeInForceIsKeptWithinBounds(t *testing.T) {
	var f inForce
	slow := func(n int) history.Changes {
		return history.ChangesOf(history.Link{From: "n1", To: "n2", LinkState: history.LinkState{Delay: time.Duration(n)}})
	}
	slower := func(did history.Changes) bool { return targets.SlowsLinks(did) }
	for n := range 20 {
		f.add(&deed{tried: slow(1 + n), did: slow(1 + n), came: history.Info})
	}
	require.True(t, f.may(slower))
	require.Len(t, f.doubted, 20, "what it was before each")
	f.add(&deed{tried: slow(0), did: slow(0), came: history.OK})
	require.False(t, f.may(slower))
	require.Empty(t, f.doubted)
	for n := range 1000 {
		f.add(&deed{tried: slow(1 + n), did: slow(1 + n), came: history.Info})
		require.LessOrEqual(t, len(f.doubted), mostDoubted)
	}
	f.add(&deed{tried: slow(0), did: slow(0), came: history.OK})
	require.True(t, f.may(slower), "nobody knows any more")
}
