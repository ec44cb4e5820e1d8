package checkers

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"recount/checkers/linear"
	"recount/history"
)

var goals = flag.Bool("goals", false, "measure the goals of deciding against plain porcupine, and print both")

// TestGoals prints what deciding is to achieve against plain porcupine, and what it does on this machine: make bench. It
// fails where an answer is wrong, not where a goal is missed: other work on the machine makes for other times.
func TestGoals(t *testing.T) {
	if !*goals {
		t.Skip("measured by make bench")
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	row := func(what, plain, here string, ratio float64, asked string, met bool) {
		verdict := "met"
		if !met {
			verdict = "MISSED"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%.1f\t%s\t%s\n", what, plain, here, ratio, asked, verdict)
	}
	faster := func(what string, plain, here time.Duration, times float64) {
		ratio := float64(plain) / float64(here)
		row(what, lasted(plain), lasted(here), ratio, fmt.Sprintf("%.0f times faster", times), ratio >= times)
	}
	within := func(what string, base, here time.Duration, times float64) {
		ratio := float64(here) / float64(base)
		row(what, lasted(base), lasted(here), ratio, fmt.Sprintf("within %.0f times", times), ratio <= times)
	}
	fmt.Fprintf(table, "\nwhat\tcompared with\there\tratio\tgoal\t\n")

	ctx := context.Background()
	f := gather(claims(100_000))
	faster("leader per term, 100,000 claims; plain porcupine, term by term", timed(func() {
		require.True(t, porcupine.CheckOperations(claimModel, f.allClaims()))
	}), timed(func() {
		require.Empty(t, f.terms().several)
	}), 50)

	note := func(what, plain, here string) { fmt.Fprintf(table, "%s\t%s\t%s\t\t\t\n", what, plain, here) }
	h := claims(100_000)
	note("the same, reading the history included", lasted(timed(func() {
		require.True(t, porcupine.CheckOperations(claimModel, gather(h).allClaims()))
	})), lasted(timed(func() { require.Equal(t, Valid, find("single-leader-per-term").Check(ctx, h).Verdict) })))

	// One search through so many operations keeps more than a gigabyte. Less garbage beside it costs it little.
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	five := contended(100_000, 5, 0)
	quick := timed(func() { require.Equal(t, porcupine.Ok, linear.DecideFence(ctx, five).Answer) })
	faster("fencing, 100,000 accesses of 5 clients; plain porcupine", once(func() {
		require.True(t, porcupine.CheckOperations(linear.FenceModel, linear.Operations(five)))
	}), quick, 40)
	runtime.GC()
	debug.SetGCPercent(100)

	fifty := contended(100_000, 50, 0)
	within("fencing, 100,000 accesses of 50 clients that overlap; of 5", quick, timed(func() {
		require.Equal(t, porcupine.Ok, linear.DecideFence(ctx, fifty).Answer)
	}), 3)

	judge := func(all []linear.Access) time.Duration {
		spoil(all)
		return timed(func() {
			core := linear.ShrinkFence(ctx, all)
			answer, _ := linear.Ask(ctx, linear.FenceModel, linear.Operations(core))
			require.Equal(t, porcupine.Illegal, answer)
		})
	}
	within("illegal, shrunk and confirmed, 100,000 accesses, 5 % of unknown outcome; 0 %",
		judge(contended(100_000, 5, 0)), judge(contended(100_000, 5, 0.05)), 2)

	million, bytes := weighed(func() *history.History { return claims(1_000_000) })
	_, more := weighed(func() Result {
		r := find("single-leader-per-term").Check(ctx, million)
		require.Equal(t, Valid, r.Verdict)
		return r
	})
	ratio := float64(bytes+more) / float64(bytes)
	row("memory to judge 1,000,000 claims, history included; the history", fmt.Sprintf("%d MiB", bytes>>20),
		fmt.Sprintf("%d MiB", (bytes+more)>>20), ratio, "within 2 times", ratio <= 2)

	for _, c := range []struct {
		what    string
		n, many int
		unknown float64
		illegal bool
	}{
		{"fencing, 1,000 accesses of 20 clients that overlap", 1000, 20, 0, false},
		{"illegal, 1,000 accesses of 5 clients, 5 % of unknown outcome", 1000, 5, 0.05, true},
	} {
		all := contended(c.n, c.many, c.unknown)
		if c.illegal {
			spoil(all)
		}
		limited, cancel := context.WithTimeout(ctx, 3*time.Second)
		plain := "decided"
		if a, why := linear.Ask(limited, linear.FenceModel, linear.Operations(all)); a == porcupine.Unknown {
			plain = why
		}
		cancel()
		here := timed(func() { require.Equal(t, c.illegal, linear.DecideFence(ctx, all).Answer == porcupine.Illegal) })
		note(c.what, plain, lasted(here))
	}
	require.NoError(t, table.Flush())
}

// timed is the shortest of several times that f took.
func timed(f func()) time.Duration {
	best := once(f)
	for range 4 {
		best = min(best, once(f))
	}
	return best
}

func once(f func()) time.Duration {
	runtime.GC()
	begin := time.Now()
	f()
	return time.Since(begin)
}

// weighed returns what f does, and how much memory it ever asked for: more than it had at any time.
func weighed[T any](f func() T) (T, int64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v := f()
	runtime.ReadMemStats(&after)
	return v, int64(after.TotalAlloc - before.TotalAlloc)
}

// claims is a history of n claims to lead, a thousand by turns of a leader and of the one before it, who has not noticed.
func claims(n int) *history.History {
	nodes := []string{"n1", "n2", "n3", "n4", "n5"}
	ops := make([]history.Op, 0, 2*n+2)
	ops = append(ops, history.Op{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{
		Nodes: nodes, Bounds: history.Bounds{Silence: time.Second, Elect: 5 * time.Second, Poll: 10 * time.Millisecond},
	}})
	now := time.Duration(0)
	for i := range n {
		term := uint64(2 + i/1000 - i%2)
		node := nodes[term%5]
		op := history.Op{Index: len(ops), Time: now, Type: history.Invoke, F: history.Observe, Node: node}
		ops = append(ops, op)
		op.Index, op.Time, op.Type = len(ops), now+time.Millisecond, history.OK
		op.View = history.View{Role: history.Leader, Term: term, Leader: node}
		ops = append(ops, op)
		now += 10 * time.Millisecond
	}
	ops = append(ops, history.Op{Index: len(ops), Time: now, Process: history.Harness, Type: history.OK, F: history.End})
	h, err := history.New(ops)
	if err != nil {
		panic(err)
	}
	return h
}

// contended is what clients that are never idle did to a resource that enforces its fence: they write with a token that
// grows now and then, some with the one before it, and every fourth time they read. A share of the writes has no outcome.
func contended(n, clients int, unknown float64) []linear.Access {
	r := rand.New(rand.NewPCG(1, 2))
	type moment struct {
		linear.Access
		at time.Duration
	}
	free := make([]time.Duration, clients)
	moments := make([]moment, n)
	for i := range moments {
		c := i % clients
		m := &moments[i]
		m.At, m.Node = int32(i), "n"+string(rune('1'+c%5))
		m.Call = free[c] + time.Duration(1+r.IntN(100))
		m.at = m.Call + time.Duration(1+r.IntN(1000))
		m.Return = m.at + time.Duration(1+r.IntN(1000))
		free[c] = m.Return
		if r.IntN(4) == 0 {
			m.Kind = linear.Read
		} else if r.Float64() < unknown {
			m.Kind, m.Return = linear.Maybe, never
		}
	}
	slices.SortFunc(moments, func(a, b moment) int { return int(a.at - b.at) })
	var state history.Access
	all := make([]linear.Access, n)
	for i := range moments {
		m := &moments[i]
		if m.Kind == linear.Read {
			m.Access.Access = state
		} else {
			m.Token, m.Value = uint64(1+i/1000), int64(i+1)
			if r.IntN(50) == 0 && m.Token > 1 {
				m.Token--
			}
			if m.Token >= state.Token {
				state = m.Access.Access
			} else if m.Kind == linear.Accepted {
				m.Kind = linear.Rejected
			}
		}
		all[i] = m.Access
	}
	slices.SortFunc(all, func(a, b linear.Access) int { return int(a.Call - b.Call) })
	return all
}

// spoil makes it that a write with an old token was accepted, three quarters on.
func spoil(all []linear.Access) {
	for i := len(all) * 3 / 4; i < len(all); i++ {
		if all[i].Kind == linear.Rejected {
			all[i].Kind = linear.Accepted
			return
		}
	}
	for i := len(all) * 3 / 4; i < len(all); i++ {
		if all[i].Kind == linear.Read {
			all[i].Value = -1
			return
		}
	}
	panic("nothing to spoil")
}
