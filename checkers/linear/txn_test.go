package linear

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// serial tries all orders of transactions that keep to real time. Those of unknown outcome may be left out.
func serial(t *Txns, all []Txn, held map[int32]int32) bool {
	next := Never
	rest := false
	for i := range all {
		next = min(next, all[i].Return)
		rest = rest || all[i].Sure()
	}
	if !rest {
		return true
	}
	for i := range all {
		if all[i].Call > next {
			continue
		}
		after := map[int32]int32{}
		for k, v := range held {
			after[k] = v
		}
		legal := true
		for _, u := range all[i].Uses {
			if u.Write {
				after[u.Key] = u.Value
			}
			legal = legal && after[u.Key] == u.Value
		}
		others := append(append([]Txn{}, all[:i]...), all[i+1:]...)
		if legal && serial(t, others, after) {
			return true
		}
	}
	return false
}

// TestTransactionsAgainstAllOrders compares decisions with the trial of every order, and wants the evidence to be illegal
// by itself, with nothing in it that could be left out.
func TestTransactionsAgainstAllOrders(t *testing.T) {
	answers := map[porcupine.CheckResult]int{}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		x := NewTxns()
		held, first := map[int32]int32{}, map[int32]int32{}
		for _, key := range []string{"x", "y", "z"} {
			k := x.Key(key, "0")
			held[k], first[k] = x.Number("0"), x.Number("0")
		}
		value := x.Number("0")
		for i := range 2 + r.IntN(5) {
			at := time.Duration(i*20 + 50)
			one := Txn{Call: at - time.Duration(r.IntN(50)), Return: at + time.Duration(r.IntN(50)), Client: int32(i), Begin: int32(2 * i), End: int32(2*i + 1)}
			var uses []Use
			for range 1 + r.IntN(3) {
				u := Use{Key: int32(r.IntN(3))}
				if u.Value = held[u.Key]; r.IntN(2) == 0 {
					if u.Write = true; r.IntN(3) > 0 {
						value = x.Number(string(rune('a' + i)))
					}
					u.Value = value
					held[u.Key] = value
				} else if r.IntN(8) == 0 {
					u.Value = int32(r.IntN(int(value) + 1))
				}
				uses = append(uses, u)
			}
			if one.Uses = uses; r.IntN(6) == 0 {
				one.Return, one.Uses = Never, nil
				for _, u := range uses {
					if u.Write {
						one.Uses = append(one.Uses, u)
					}
				}
			}
			x.Ops = append(x.Ops, one)
		}
		want := porcupine.Illegal
		if serial(x, x.Ops, first) {
			want = porcupine.Ok
		}
		found, core := x.Decide(context.Background())
		got := found.Answer
		require.Equal(t, want, got, "seed %d: %s", seed, found.Why)
		answers[got]++
		if got != porcupine.Illegal {
			require.Empty(t, core)
			continue
		}
		require.False(t, serial(x, core, first), "seed %d: the evidence alone", seed)
		for i := range core {
			less := withoutTxns(core, i, i+1)
			require.True(t, serial(x, less, first), "seed %d: with less evidence", seed)
		}
	}
	require.Greater(t, answers[porcupine.Ok], 300)
	require.Greater(t, answers[porcupine.Illegal], 300)
}

// TestUndecidedTransactions says what makes them hard: what may have happened or not, clients at once, or that they are many.
func TestUndecidedTransactions(t *testing.T) {
	ctx := WithMemory(context.Background(), 1<<20)
	draw := func(n int, writes time.Duration) *Txns { // nobody wrote what the last one finds, but all orders are to be tried
		x := NewTxns()
		for i := range n {
			x.Ops = append(x.Ops, Txn{Call: 1, Return: writes, Uses: []Use{
				{true, x.Key("x", "0"), x.Number("1")}, {true, x.Key("y", "0"), x.Number(string(rune('a' + i)))},
			}})
		}
		x.Ops = append(x.Ops, Txn{Call: 3, Return: 4, Uses: []Use{{false, x.Key("x", "0"), x.Number("1")}, {false, x.Key("y", "0"), x.Number("?")}}})
		return x
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	for name, c := range map[string]struct {
		ctx       context.Context
		txns      *Txns
		why, help string
	}{
		"outcomes": {ctx, draw(24, Never), "grew beyond 1 MiB", "24 operations may have happened or not: have fewer of them time out, or give it more memory"},
		"clients":  {ctx, draw(24, 2), "grew beyond 1 MiB", "24 operations were under way at once: let fewer clients act at the same time, or give it more memory"},
		"length":   {ctx, draw(3000, 2), "3001 operations that depend on each other need 5 MiB to decide, of 1 allowed", "give it more memory"},
		"time":     {gone, draw(24, Never), "time ran out", "24 operations may have happened or not: have fewer of them time out, or give it more time"},
	} {
		found, core := c.txns.Decide(c.ctx)
		require.Equal(t, unknown, found.Answer, name)
		require.Empty(t, core)
		require.Contains(t, found.Why, c.why, name)
		require.Equal(t, c.help, found.Remedy, name)
	}
}
