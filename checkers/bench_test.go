package checkers

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// minutes are simulated minutes of five nodes, each asked every 50 ms and announcing its changes, while the link between
// two of them flaps and leadership moves with it; and of leaders that write ten times a second.
func minutes(tb testing.TB, n int) *history.History {
	nodes := []string{"n1", "n2", "n3", "n4", "n5"}
	ops := []history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{
		Nodes: nodes, Bounds: history.Bounds{Silence: time.Second, Elect: 5 * time.Second, Poll: 50 * time.Millisecond},
	}}}
	add := func(op history.Op) { ops = append(ops, op) }
	term, leader := uint64(1), 0
	view := func(i int) history.View {
		v := history.View{Role: history.Follower, Term: term, Leader: nodes[leader]}
		if i == leader {
			v.Role = history.Leader
		}
		return v
	}
	flap := history.Fault{ID: 1, Name: "flap-link", Nodes: nodes[:2]}
	for now := time.Duration(0); now < time.Duration(n)*time.Minute; now += 10 * time.Millisecond {
		tick := int(now / (10 * time.Millisecond))
		if tick > 500 && tick%200 == 1 {
			state := history.LinkState{Cut: tick%400 == 1}
			f := flap
			f.Links = []history.Link{{From: "n1", To: "n2", LinkState: state}, {From: "n2", To: "n1", LinkState: state}}
			op := history.Op{Time: now, Process: history.Nemesis, Type: history.Invoke, F: history.Change, Fault: &f}
			if tick == 601 {
				op.F = history.Inject
			}
			add(op)
			op.Type = history.OK
			add(op)
		}
		if tick > 500 && tick%200 == 50 {
			term, leader = term+1, 1-leader
			for i, n := range nodes {
				op := history.Op{Time: now, Process: history.Process(i), Type: history.OK, F: history.Announce, Node: n}
				op.View = view(i)
				add(op)
			}
		}
		i := tick % 5
		op := history.Op{Time: now, Process: history.Process(i), Type: history.Invoke, F: history.Observe, Node: nodes[i]}
		add(op)
		op.Time, op.Type, op.View = now+time.Millisecond, history.OK, view(i)
		add(op)
		if tick%10 == 3 {
			op := history.Op{Time: now + 2*time.Millisecond, Process: 10, Type: history.Invoke, F: history.Write}
			op.Node, op.Access = nodes[leader], history.Access{Token: term, Value: int64(tick)}
			add(op)
			op.Time, op.Type = op.Time+time.Millisecond, history.OK
			add(op)
		}
	}
	add(history.Op{Time: time.Duration(n) * time.Minute, Process: history.Harness, Type: history.OK, F: history.End})
	for i := range ops {
		ops[i].Index = i
	}
	h, err := history.New(ops)
	require.NoError(tb, err)
	return h
}

func BenchmarkMinute(b *testing.B) {
	h := minutes(b, 1)
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			CheckAll(context.Background(), h)
		}
		b.ReportMetric(float64(len(h.Ops)), "ops")
	})
	b.Run("gather", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			gather(h)
		}
	})
	for i, c := range All() {
		j := judging(h)
		b.Run(c.Property, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				j.check(context.Background(), i)
			}
		})
	}
}

// BenchmarkDay checks a day of it, the largest history that one would judge.
func BenchmarkDay(b *testing.B) {
	h := minutes(b, 6*60)
	b.ReportAllocs()
	for b.Loop() {
		CheckAll(context.Background(), h)
	}
	b.ReportMetric(float64(len(h.Ops)), "ops")
}
