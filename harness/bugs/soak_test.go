package bugs

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness"
	"recount/harness/record"
	"recount/history"
)

func says(node, leader string, term uint64) history.Op {
	return history.Op{Process: 1, Type: history.OK, F: history.Observe, Node: node, View: history.View{Leader: leader, Term: term}}
}

// soaked is a run of three nodes that say that last.
func soaked(last ...history.Op) *record.Run {
	ops := append([]history.Op{{Process: history.Nemesis, Type: history.OK, F: history.Inject}}, last...)
	return &record.Run{
		Nodes:   []string{"n1", "n2", "n3"},
		History: &history.History{Ops: append(ops, history.Op{Process: history.Harness, Type: history.OK, F: history.End})},
		Verdicts: []record.Verdict{
			{Result: checkers.Result{
				Property: "single-leader-per-term", Verdict: checkers.Valid,
				Figures: []checkers.Figure{{Name: "leaderships", Number: 8, Unit: checkers.Things}, {Name: "terms with a leader", Number: 6, Unit: checkers.Things}},
			}, Promised: true},
			{Result: checkers.Result{
				Property: "exclusive-leadership", Verdict: checkers.Valid, Figures: []checkers.Figure{{Name: "leaderships", Number: 7, Unit: checkers.Things}},
			}},
			{Result: checkers.Result{Property: "monotonic-term", Verdict: checkers.Unknown, Untested: true}, Promised: true},
			{Result: checkers.Result{Property: "sticky-leader", Verdict: checkers.Invalid}},
			{Result: checkers.Result{Property: "elects", Verdict: checkers.Unknown}, Promised: true},
		},
	}
}

func TestSoak(t *testing.T) {
	all, err := Soaks([]string{"nats"})
	require.NoError(t, err)
	s, err := all[0].Soak(t.Context(), 10*time.Minute, 4, func(_ context.Context, p record.Plan) (*record.Run, error) {
		require.NoError(t, harness.Check(p))
		require.Equal(t, uint64(4), p.Seed)
		require.Contains(t, p.Faults, "disk-slow")
		require.NotContains(t, p.Faults, "disk-full")
		return soaked(says("n1", "n1", 9), says("n2", "n1", 9), says("n3", "n1", 9)), nil
	})
	require.NoError(t, err)
	require.Equal(t, Soak{
		Name: "nats", About: "NATS 2.12.15", Nodes: 3, Time: "10m0s", Seed: 4, Faults: 1, Leaderships: 7, Terms: 6,
		Weak: []string{"sticky-leader"}, Unknown: []string{"elects"}, End: "healthy", Without: all[0].Without, Because: all[0].Because,
	}, s)
	require.True(t, s.Good())
	s.Broken, s.Ended = []string{"elects"}, []string{"n2"}
	require.False(t, s.Good())

	var rec Record
	rec.PutSoak(s)
	page, err := rec.Page()
	require.NoError(t, err)
	require.Contains(t, page, "| NATS 2.12.15 | 3 | 10m0s | 1 | 7 | 6 | `elects` | `sticky-leader` | `elects` | n2 | healthy |")
	require.Contains(t, page, "NATS 2.12.15 had all faults but `disk-errors`, `disk-full`: a server that cannot store")
}

// A cluster is healthy if it was asked to the end and all of it that has a part in the election named one leader
// in one term.
func TestEnding(t *testing.T) {
	agreed := []history.Op{says("n1", "n1", 9), says("n2", "n1", 9), says("n3", "n1", 9)}
	silent := history.Op{Process: 1, Type: history.Fail, F: history.Observe, Node: "n3"}
	crash := history.Op{Process: history.Harness, Type: history.Info, F: history.Exit, Node: "n2"}
	server := history.Op{Process: 1, Type: history.OK, F: history.Observe, Node: "n1", View: history.View{Role: history.Server}}
	for _, c := range []struct {
		want string
		last []history.Op
	}{
		{"healthy", agreed},
		{"healthy", []history.Op{crash, agreed[0], agreed[1], agreed[2]}},
		{"healthy", []history.Op{server, agreed[1], agreed[2]}},
		{"n3 knew no leader", append(agreed[:3:3], silent)},
		{"n2 knew no leader", append(agreed[:3:3], crash)},
		{"n1 and n2 named different leaders", []history.Op{agreed[0], says("n2", "n2", 9), agreed[2]}},
		{"n1 and n3 were in different terms", []history.Op{agreed[0], agreed[1], says("n3", "n1", 8)}},
		{"n2 knew no leader", []history.Op{agreed[0], says("n2", "", 9), agreed[2]}},
		{"n1 knew no leader", nil},
	} {
		require.Equal(t, c.want, ending(soaked(c.last...)))
	}
	require.Equal(t, []string{"n2 2 times", "n3"}, endings(soaked(crash, history.Op{F: history.Exit, Node: "n3"}, crash)))
	cut := soaked(agreed...)
	cut.History.Ops = cut.History.Ops[:len(cut.History.Ops)-1]
	require.Equal(t, "cut short", ending(cut))
}
