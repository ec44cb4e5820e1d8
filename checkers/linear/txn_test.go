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
		got, core, why := x.Decide(context.Background())
		require.Equal(t, want, got, "seed %d: %s", seed, why)
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
