package linear

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// TestCliffs has histories that small changes make hard for one way of deciding or another. None of them may be undecided.
func TestCliffs(t *testing.T) {
	ctx := WithMemory(context.Background(), 1<<30)
	t.Run("a fence, values that repeat, some of unknown outcome", func(t *testing.T) {
		all := repeating(20_000, 5, 0.01)
		require.Equal(t, legal, DecideFence(ctx, all).Answer)
		for i := len(all) * 3 / 4; ; i++ {
			if all[i].Kind == Rejected {
				all[i].Kind = Accepted
				break
			}
		}
		require.Equal(t, illegal, DecideFence(ctx, all).Answer)
	})
	t.Run("a fence, more accesses than a small search has room for", func(t *testing.T) {
		defer func(was int64) { small = was }(small)
		small = 256 << 10
		all := repeating(5000, 5, 0.01)
		found := DecideFence(ctx, all)
		require.Equal(t, legal, found.Answer)
		require.NotZero(t, found.Steps, "a first look is enough: nobody asks porcupine")
		require.Less(t, found.Steps, lookStepsPer*len(all))
	})
	t.Run("a register of five values, some writes of unknown outcome", func(t *testing.T) {
		for seed := range uint64(3) {
			o := shape{clients: 5, ops: 10_000, unknown: 1, reads: 40}.draw(seed, false)
			require.Equal(t, legal, o.Decide(ctx).Answer)
		}
	})
	t.Run("writes that all overlap", func(t *testing.T) {
		limited, cancel := WithTime(ctx, 100*time.Millisecond)
		defer cancel()
		o := NewObject(false)
		const n = 50_000
		for i := range n {
			o.Add(Op{Call: 1, Return: time.Duration(n + i), Kind: Put, Value: o.Number(string(rune('a' + i%20))), Begin: int32(i)})
		}
		o.Add(Op{Call: 3 * n, Return: 3 * n, Kind: Get, Value: 1, Begin: n})
		found := o.Decide(limited) // it comes back
		require.NotEqual(t, illegal, found.Answer)
	})
}

// repeating is what clients that are never idle did to a resource that enforces its fence, of nine values. Tokens grow every
// thousand accesses; some writes come with the one before.
func repeating(n, clients int, unknown float64) []Access { return busy(n, clients, unknown, false) }

// busy is the same, or with a value of its own for each write.
func busy(n, clients int, unknown float64, distinct bool) []Access {
	r := rand.New(rand.NewPCG(1, 2))
	type moment struct {
		Access
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
			m.Kind = Read
		} else if r.Float64() < unknown {
			m.Kind, m.Return = Maybe, Never
		}
	}
	slices.SortFunc(moments, func(a, b moment) int { return int(a.at - b.at) })
	var state history.Access
	all := make([]Access, n)
	for i := range moments {
		m := &moments[i]
		if m.Kind == Read {
			m.Access.Access = state
		} else {
			m.Token, m.Value = uint64(1+i/1000), int64(1+r.IntN(9))
			if distinct {
				m.Value = int64(i + 1)
			}
			if r.IntN(50) == 0 && m.Token > 1 {
				m.Token--
			}
			if m.Token >= state.Token {
				state = m.Access.Access
			} else if m.Kind == Accepted {
				m.Kind = Rejected
			}
		}
		all[i] = m.Access
	}
	slices.SortFunc(all, func(a, b Access) int { return int(a.Call - b.Call) })
	return all
}
