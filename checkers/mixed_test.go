package checkers

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
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
			x.f = []history.F{history.Put, history.Get, history.CAS, history.Txns}[r.IntN(4)]
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
			default:
				if happens && (x.f == history.Put || x.old == held[x.key]) {
					held[x.key] = x.value
				}
			}
			transacts = transacts || x.f == history.Txns && x.outcome != history.Fail
			begun := history.Op{Time: x.call, Process: history.Process(i), Type: history.Invoke, F: x.f}
			ended := history.Op{Time: x.end, Process: history.Process(i), Type: x.outcome, F: x.f}
			for _, op := range []*history.Op{&begun, &ended} {
				if x.f == history.Txns {
					op.Value = &history.Txn{Uses: x.uses}
				} else {
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
