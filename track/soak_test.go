package track

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness"
	"recount/history"
	"recount/report"
)

func says(node, leader string, term uint64) history.Op {
	return history.Op{Process: 1, Type: history.OK, F: history.Observe, Node: node, View: history.View{Leader: leader, Term: term}}
}

// soaked is a run of three nodes that say that last.
func soaked(last ...history.Op) *report.Run {
	ops := append([]history.Op{{Process: history.Nemesis, Type: history.OK, F: history.Inject}}, last...)
	return &report.Run{
		Nodes:   []string{"n1", "n2", "n3"},
		History: &history.History{Ops: append(ops, history.Op{Process: history.Harness, Type: history.OK, F: history.End})},
		Verdicts: []report.Verdict{
			{Result: checkers.Result{
				Property: "single-leader-per-term", Verdict: checkers.Valid,
				Figures: []checkers.Figure{{Name: "leaderships", Value: "7"}, {Name: "terms with a leader", Value: "6"}},
			}, Promised: true},
			{Result: checkers.Result{Property: "sticky-leader", Verdict: checkers.Invalid}},
			{Result: checkers.Result{Property: "elects", Verdict: checkers.Unknown}, Promised: true},
		},
	}
}

func TestSoak(t *testing.T) {
	all, err := Soaks([]string{"nats"})
	require.NoError(t, err)
	s, err := all[0].Soak(t.Context(), 10*time.Minute, 4, func(_ context.Context, p harness.Plan) (*report.Run, error) {
		require.NoError(t, p.Check())
		require.Equal(t, uint64(4), p.Seed)
		return soaked(says("n1", "n1", 9), says("n2", "n1", 9), says("n3", "n1", 9)), nil
	})
	require.NoError(t, err)
	require.Equal(t, Soak{
		Name: "nats", About: "NATS 2.12.15", Nodes: 3, Time: "10m0s", Seed: 4, Faults: 1, Leaderships: 7, Terms: 6,
		Weak: []string{"sticky-leader"}, Unknown: []string{"elects"}, End: "healthy",
	}, s)
	require.True(t, s.Good())
	s.Broken = []string{"elects"}
	require.False(t, s.Good())

	var rec Record
	rec.PutSoak(s)
	page, err := rec.Page()
	require.NoError(t, err)
	require.Contains(t, page, "| NATS 2.12.15 | 3 | 10m0s | 1 | 7 | 6 | `elects` | `sticky-leader` | `elects` | healthy |")
}

// A cluster is healthy if it was asked to the end and all of it named one leader in one term.
func TestEnding(t *testing.T) {
	agreed := []history.Op{says("n1", "n1", 9), says("n2", "n1", 9), says("n3", "n1", 9)}
	silent := history.Op{Process: 1, Type: history.Fail, F: history.Observe, Node: "n3"}
	crash := history.Op{Process: history.Harness, Type: history.Info, F: history.Exit, Node: "n2"}
	for want, last := range map[string][]history.Op{
		"healthy":                           agreed,
		"n3 knew no leader":                 append(agreed[:3:3], silent),
		"n2 ended by itself":                append(agreed[:3:3], crash),
		"n1 and n2 named different leaders": {agreed[0], says("n2", "n2", 9), agreed[2]},
		"n1 and n3 were in different terms": {agreed[0], agreed[1], says("n3", "n1", 8)},
		"n2 knew no leader":                 {agreed[0], says("n2", "", 9), agreed[2]},
		"n1 knew no leader":                 nil,
	} {
		require.Equal(t, want, ending(soaked(last...)))
	}
	cut := soaked(agreed...)
	cut.History.Ops = cut.History.Ops[:len(cut.History.Ops)-1]
	require.Equal(t, "cut short", ending(cut))
}
