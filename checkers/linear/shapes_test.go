package linear

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// shape is what clients do to a register: how many act, how many operations there are, how many of a hundred have no outcome,
// and how many are reads.
type shape struct{ clients, ops, unknown, reads int }

func (s shape) String() string {
	return fmt.Sprintf("%d clients, %d ops, %d %% unknown, %d %% reads", s.clients, s.ops, s.unknown, s.reads)
}

// shapes are all that are compared, with so many operations each.
func shapes(ops int) (all []shape) {
	for _, clients := range []int{2, 5, 10, 20, 50} {
		for _, unknown := range []int{0, 1, 10} {
			for _, reads := range []int{10, 50, 90} {
				all = append(all, shape{clients, ops, unknown, reads})
			}
		}
	}
	return all
}

// draw has clients use a register that holds one of five values, as a right one does. Each is idle for about as long as an
// operation takes. A stale one shows a value that it does not hold, near the end.
func (s shape) draw(seed uint64, stale bool) *Object {
	r := rand.New(rand.NewPCG(seed, 11))
	type moment struct {
		Op
		at time.Duration
	}
	free := make([]time.Duration, s.clients)
	all := make([]moment, s.ops)
	for i := range all {
		c := 0
		for k := range free {
			if free[k] < free[c] {
				c = k
			}
		}
		m := &all[i]
		m.Client, m.Call = int32(c), free[c]+time.Duration(r.IntN(2000))
		m.at = m.Call + time.Duration(r.IntN(1000))
		m.Return = m.at + time.Duration(1+r.IntN(1000))
		free[c] = m.Return + 1
		switch k := r.IntN(100); {
		case k < s.reads:
		case k%3 == 0:
			m.Kind, m.Old, m.Value = CAS, int32(1+r.IntN(5)), int32(1+r.IntN(5))
		default:
			m.Kind, m.Value = Put, int32(1+r.IntN(5))
		}
		if m.Kind != Get && r.IntN(100) < s.unknown {
			m.Return = Never
			if r.IntN(2) == 0 {
				m.at = Never
			}
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return int(min(max(a.at-b.at, -1), 1)) })
	o := NewObject(false)
	for i := range 5 {
		o.Number(fmt.Sprint(i + 1))
	}
	held := int32(0)
	for i := range all {
		m := &all[i]
		m.Begin = int32(i)
		switch {
		case m.Kind == Get:
			if m.Value = held; stale && i > s.ops*9/10 && held > 0 {
				m.Value, stale = held%5+1, false
			}
		case m.at == Never:
		case m.Kind == Put, m.Old == held:
			held = m.Value
		default: // it failed
			continue
		}
		o.Ops = append(o.Ops, m.Op)
	}
	slices.SortStableFunc(o.Ops, func(a, b Op) int { return int(min(max(a.Call-b.Call, -1), 1)) })
	return o
}

// TestShapes decides histories of many shapes, and compares with porcupine as far as that comes in so many steps.
func TestShapes(t *testing.T) {
	ctx := WithMemory(context.Background(), 256<<20)
	ours, theirs, undecided := 0, 0, 0
	for _, s := range shapes(200) {
		for _, stale := range []bool{false, true} {
			o := s.draw(1, stale)
			steps, enough := 0, 100_000
			m := o.model(State{})
			step := m.Step
			m.Step = func(state, input, output any) (bool, any) {
				if steps++; steps > enough {
					return false, state
				}
				return step(state, input, output)
			}
			answer := legal
			if !porcupine.CheckOperations(m, operations(o.Ops)) {
				answer = illegal
			}
			found := o.Decide(ctx)
			if steps > enough {
				undecided++
				require.NotEqual(t, unknown, found.Answer, "%v", s)
				continue
			}
			require.Equal(t, answer, found.Answer, "%v, stale: %v", s, stale)
			ours, theirs = ours+found.Steps, theirs+steps
			if stale {
				require.LessOrEqual(t, found.Steps, 2*steps+lookSteps, "%v", s)
			}
		}
	}
	t.Logf("%d steps, porcupine %d in those that it decided, %d not in %d", ours, theirs, undecided, 100_000)
}

// TestEvidenceWhereValuesRepeat wants evidence of operations of which hundreds must be named: it convicts, and is not searched
// for until time is over.
func TestEvidenceWhereValuesRepeat(t *testing.T) {
	ctx, cancel := WithTime(context.Background(), time.Hour) // in which the smallest would be found
	defer cancel()
	o := shape{clients: 2, ops: 1000, reads: 10}.draw(1, true)
	found := o.Decide(ctx)
	require.Equal(t, illegal, found.Answer)
	e := o.Evidence(ctx, found)
	require.False(t, porcupine.CheckOperations(o.model(State{}), operations(e.Ops)))
	require.NotNil(t, e.Died)
}
