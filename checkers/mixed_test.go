package checkers

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// mixedOp is an operation on registers that happened, or may have.
type mixedOp struct {
	f               history.F
	call, end       time.Duration
	outcome         history.Type
	key, value, old string        // of one register,
	uses            []history.Use // or of several
}

// explained tries all orders of instants. What was of unknown outcome may be left out.
func explained(left []mixedOp, held map[string]string) bool {
	next := never
	for _, x := range left {
		if x.outcome == history.OK {
			next = min(next, x.end)
		}
	}
	if next == never {
		return true
	}
	for i, x := range left {
		if x.call > next {
			continue
		}
		after, legal := map[string]string{}, true
		for k, v := range held {
			after[k] = v
		}
		read := func(key, value string) { legal = legal && after[key] == value }
		switch x.f {
		case history.Put:
			after[x.key] = x.value
		case history.Get:
			read(x.key, x.value)
		case history.CAS:
			read(x.key, x.old)
			after[x.key] = x.value
		case history.Acquire:
			read("lock", "")
			after["lock"] = "taken"
		case history.Release:
			read("lock", "taken")
			after["lock"] = ""
		default:
			for _, u := range x.uses {
				if u.F == history.Put {
					after[u.Key] = u.Value
				} else if x.outcome == history.OK {
					read(u.Key, u.Value)
				}
			}
		}
		if legal && explained(slices.Delete(slices.Clone(left), i, i+1), after) {
			return true
		}
	}
	return false
}

// Where there are transactions, all that uses a register is one; locks and what failed are not.
func TestTransactionsAmongOtherUses(t *testing.T) {
	verdicts := map[Verdict]int{}
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 11))
		held := map[string]string{} // if each happened when it began
		value := func() string { return strconv.Itoa(1 + r.IntN(3)) }
		seen := func(key string) string {
			if r.IntN(8) == 0 {
				return value()
			}
			return held[key]
		}
		key := func() string { return []string{"x", "y"}[r.IntN(2)] }
		var all []mixedOp
		var ops []history.Op
		transacts := false
		for i := range 2 + r.IntN(5) {
			x := mixedOp{call: time.Duration(20 * i), key: key(), value: value()}
			x.old = seen(x.key)
			x.f = []history.F{history.Put, history.Get, history.CAS, history.Txns, history.Acquire}[r.IntN(5)]
			if x.f == history.Acquire && held["lock"] != "" && r.IntN(8) > 0 {
				x.f = history.Release
			}
			x.end = x.call + 1 + time.Duration(r.IntN(70))
			x.outcome = []history.Type{history.OK, history.OK, history.OK, history.Info, history.Fail}[r.IntN(5)]
			happens := x.outcome == history.OK || x.outcome == history.Info && r.IntN(2) == 0
			switch x.f {
			case history.Get:
				x.value = x.old
			case history.Txns:
				for range 1 + r.IntN(2) {
					u := history.Use{F: []history.F{history.Get, history.Put}[r.IntN(2)], Key: key()}
					if u.Value = value(); u.F == history.Get {
						u.Value = seen(u.Key)
					} else if happens {
						held[u.Key] = u.Value
					}
					x.uses = append(x.uses, u)
				}
			case history.Acquire, history.Release:
				if happens {
					held["lock"] = map[history.F]string{history.Acquire: "taken"}[x.f]
				}
			default:
				if happens && (x.f == history.Put || x.old == held[x.key]) {
					held[x.key] = x.value
				}
			}
			transacts = transacts || x.f == history.Txns && x.outcome != history.Fail
			begun := history.Op{Time: x.call, Process: history.Process(i), Type: history.Invoke, F: x.f}
			ended := history.Op{Time: x.end, Process: history.Process(i), Type: x.outcome, F: x.f}
			for _, op := range []*history.Op{&begun, &ended} {
				switch x.f {
				case history.Txns:
					op.Value = &history.Txn{Uses: x.uses}
				case history.Acquire, history.Release:
				default:
					op.Reg = &history.Register{Key: x.key, Value: x.value, Old: x.old}
				}
			}
			ops = append(ops, begun, ended)
			if x.outcome != history.Fail && (x.outcome == history.OK || x.f != history.Get) {
				all = append(all, x)
			}
		}
		ops = append(ops, history.Op{Time: 10 * time.Second, Process: history.Harness, Type: history.OK, F: history.End})
		slices.SortStableFunc(ops, func(a, b history.Op) int { return int(a.Time - b.Time) })
		for i := range ops {
			ops[i].Index = i
		}
		h, err := history.New(ops)
		require.NoError(t, err)
		got := CheckSome(context.Background(), h, []string{"linearizable"})[0]
		if !transacts || got.Verdict == Unknown { // nothing that tells
			continue
		}
		verdicts[got.Verdict]++
		require.Equal(t, explained(all, map[string]string{}), got.Verdict == Valid, "seed %d: %s", seed, got.Why)
	}
	require.Greater(t, verdicts[Valid], 200)
	require.Greater(t, verdicts[Invalid], 200)
}

// What nobody told is no read of nothing, and what clients do with a lock puts it to the test beside transactions, too.
func TestWhatIsToldBesideTransactions(t *testing.T) {
	txn := func(uses ...history.Use) *history.Txn { return &history.Txn{Uses: uses} }
	pair := func(client int, f history.F, value any, reg *history.Register) (ops []history.Op) {
		for _, how := range []history.Type{history.Invoke, history.OK} {
			ops = append(ops, history.Op{Process: history.Process(client), Type: how, F: f, Value: value, Reg: reg})
		}
		return ops
	}
	wrote := txn(history.Use{F: history.Put, Key: "x", Value: "1"})
	failed := pair(9, history.Txns, wrote, nil)
	failed[1].Type = history.Fail
	perhaps := pair(2, history.CAS, nil, &history.Register{Key: "x", Old: "5", Value: "7"}) // which it cannot have found
	perhaps[1].Type = history.Info
	untold := pair(1, history.Put, nil, &history.Register{Key: "x", Value: "3"}) // its answer repeats nothing
	untold[1].Reg = nil
	for _, c := range []struct {
		ops  [][]history.Op
		want Verdict
		says string
	}{
		{[][]history.Op{pair(1, history.Txns, wrote, nil), pair(2, history.Get, nil, nil)}, Unknown, "no transaction told what it found"},
		{[][]history.Op{pair(1, history.Txns, wrote, nil), pair(2, history.Get, nil, &history.Register{Key: "x", Value: "1"})}, Valid,
			"an order explains all of 2 transactions of 2 clients, 0 of them of unknown outcome"},
		{[][]history.Op{pair(1, history.Txns, wrote, nil), pair(2, history.Acquire, nil, nil), pair(3, history.Release, nil, nil)}, Valid,
			"an order explains all of 1 transaction of 1 client, 0 of them of unknown outcome; an order explains all of 2 operations on 1 lock"},
		{[][]history.Op{pair(1, history.Txns, wrote, nil), pair(1, history.Acquire, nil, nil), pair(1, history.Release, nil, nil)}, Unknown, "one client alone"},
		{[][]history.Op{pair(1, history.Txns, txn(history.Use{F: history.Get, Key: "x"}), nil), pair(2, history.Acquire, nil, nil), pair(3, history.Release, nil, nil)}, Valid, "1 lock"},
		{[][]history.Op{pair(1, history.Txns, txn(history.Use{F: history.Get, Key: "x"}), nil), pair(2, history.Get, nil, &history.Register{Key: "x"})}, Unknown, "nothing was written"},
		{[][]history.Op{failed, pair(1, history.Put, nil, &history.Register{Key: "x", Value: "1"}), pair(2, history.Get, nil, &history.Register{Key: "x", Value: "1"})},
			Valid, "on 1 register"},
		{[][]history.Op{pair(1, history.Txns, wrote, nil), perhaps, pair(3, history.Get, nil, &history.Register{Key: "x", Value: "7"})}, Invalid, "no order"},
		{[][]history.Op{untold, pair(2, history.Txns, txn(history.Use{F: history.Get, Key: "x", Value: "3"}), nil)}, Valid, "2 transactions"},
		{[][]history.Op{pair(1, history.Txns, wrote, nil), pair(2, history.Acquire, nil, nil), pair(3, history.Acquire, nil, nil)}, Invalid, "process 3 took the lock"},
	} {
		ops := append(slices.Concat(c.ops...), history.Op{Process: history.Harness, Type: history.OK, F: history.End})
		for i := range ops {
			ops[i].Index, ops[i].Time = i, time.Duration(i)
		}
		h, err := history.New(ops)
		require.NoError(t, err)
		got := CheckSome(context.Background(), h, []string{"linearizable"})[0]
		require.Equal(t, c.want, got.Verdict, got.Why)
		require.Contains(t, got.Why, c.says)
		for i := range h.Ops {
			h.Ops[i].Time = 0
		}
		timeless := CheckSome(context.Background(), h, []string{"linearizable"})[0]
		require.NotEqual(t, Valid, timeless.Verdict, "no op tells a time: each may have been beside any other: %s", timeless.Why)
	}
}

// A read that did not return is nobody's: one client has to be joined by another who did something.
func TestReadsThatDidNotReturnBesideTransactions(t *testing.T) {
	const begin = `{"index":0,"process":"harness","type":"ok","f":"begin","value":{"target":"mine","nodes":["n1","n2","n3"]}}
{"index":1,"time":2,"process":0,"type":"invoke",`
	const rest = `
{"index":3,"time":3,"process":1,"type":"invoke","f":"txn","value":{"uses":[{"f":"put","key":"","value":"1"},{"f":"get","key":""}]}}
{"index":4,"time":4,"process":1,"type":"ok","f":"txn","value":{"uses":[{"f":"put","key":"","value":"1"},{"f":"get","key":"","value":"1"}]}}
{"index":5,"time":5,"process":"harness","type":"ok","f":"end"}
`
	for what, want := range map[string]Verdict{
		`"f":"get"}`: Unknown,
		`"f":"txn","value":{"uses":[{"f":"get","key":""}]}}`:             Unknown,
		`"f":"put","value":{"value":"2"}}`:                               Valid,
		`"f":"txn","value":{"uses":[{"f":"put","key":"","value":"2"}]}}`: Valid,
	} {
		h, err := history.Parse(strings.NewReader(begin + what + rest))
		require.NoError(t, err)
		all := CheckAll(t.Context(), h)
		k := slices.IndexFunc(all, func(r Result) bool { return r.Property == "linearizable" })
		require.Equal(t, want, all[k].Verdict, "%s: %s", what, all[k].Why)
	}
}
