package checkers

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// content is what a plain register holds, or a lock.
type content struct{ value, revision int }

// topRevision is more than the writes of a small history can reach.
const topRevision = 14

// plainRegisterModel is the specification in the plainest way: what is not known may be anything.
func plainRegisterModel() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{content{}} },
		Step: func(state, input, _ any) (next []any) {
			s, u := state.(content), input.(*action)
			write := func() {
				for r := s.revision + 1; r <= topRevision; r++ {
					if u.revision == 0 || int(u.revision) == r {
						next = append(next, content{int(u.value), r})
					}
				}
			}
			switch {
			case u.kind == get && s.value == int(u.value) && (u.revision == 0 || int(u.revision) == s.revision):
				next = append(next, s)
			case u.kind == put, u.kind == cas && s.value == int(u.old):
				write()
			case u.kind == take && s.value == 0:
				next = append(next, content{value: 1})
			case u.kind == give && s.value == 1:
				next = append(next, content{})
			}
			if !u.sure() {
				next = append(next, s)
			}
			return next
		},
		Equal: func(a, b any) bool { return a == b },
	}
	return m.ToModel()
}

// drawObject draws a history of one object: what a right one would do, with some of it told wrongly.
func drawObject(t *rapid.T) *object {
	kind := rapid.SampledFrom([]string{"distinct", "repeating", "cas", "revisions", "lock"}).Draw(t, "object")
	o := &object{lock: kind == "lock", values: []string{""}}
	n := rapid.IntRange(3, 8).Draw(t, "uses")
	points := make([]int, n)
	for i := range n {
		call := rapid.IntRange(0, 14).Draw(t, "call")
		length := rapid.IntRange(0, 5).Draw(t, "length")
		points[i] = 10*call + rapid.IntRange(0, 10*length).Draw(t, "point")
		u := action{call: time.Duration(call), ret: time.Duration(call + length)}
		switch k := rapid.IntRange(0, 9).Draw(t, "kind"); {
		case o.lock:
			u.kind = take + actionKind(k%2)
		case k < 5:
			u.kind = get
		case k < 8 || kind != "cas" && kind != "revisions":
			u.kind = put
		default:
			u.kind = cas
		}
		o.uses = append(o.uses, u)
	}
	byPoint := make([]int, n)
	for i := range byPoint {
		byPoint[i] = i
	}
	slices.SortStableFunc(byPoint, func(a, b int) int { return cmp.Compare(points[a], points[b]) })
	var s content
	for k, i := range byPoint {
		u := &o.uses[i]
		happens := true
		switch u.kind {
		case get:
			u.value = int32(s.value)
		case put, cas:
			u.value = int32(k + 1)
			if kind != "distinct" {
				u.value = int32(rapid.IntRange(0, 3).Draw(t, "value"))
			}
			if u.kind == cas {
				u.old = int32(rapid.IntRange(0, 3).Draw(t, "old"))
				happens = u.old == int32(s.value)
			}
			if happens {
				s = content{int(u.value), s.revision + 1}
			}
		case take, give:
			if happens = (u.kind == take) == (s.value == 0); happens {
				s.value = 1 - s.value
			}
		}
		if u.kind < take && kind == "revisions" && rapid.Bool().Draw(t, "tells its revision") {
			u.revision = uint64(s.revision)
		}
		if !happens && rapid.IntRange(0, 3).Draw(t, "lie") > 0 || u.kind != get && rapid.IntRange(0, 6).Draw(t, "unknown") == 0 {
			u.ret, u.revision = never, 0
		}
	}
	for range rapid.IntRange(0, 4).Draw(t, "wrong") {
		u := &o.uses[rapid.IntRange(0, n-1).Draw(t, "which")]
		switch {
		case u.revision > 0 && rapid.Bool().Draw(t, "in its revision"):
			u.revision = uint64(rapid.IntRange(1, 6).Draw(t, "revision"))
		case u.kind == get:
			u.value = int32(rapid.IntRange(0, min(n, 4)).Draw(t, "read"))
		case u.sure():
			u.ret = u.call
		}
	}
	slices.SortStableFunc(o.uses, func(a, b action) int { return cmp.Compare(a.call, b.call) })
	for i := range o.uses {
		u := &o.uses[i]
		u.begin = int32(i)
		o.counted = o.counted || u.revision != 0
		for len(o.values) <= int(max(u.value, u.old)) {
			o.values = append(o.values, string(rune('a'+len(o.values))))
		}
	}
	return o
}

func byPorcupine(uses []action) porcupine.CheckResult {
	var ops []porcupine.Operation
	for i := range uses {
		u := &uses[i]
		ops = append(ops, porcupine.Operation{ClientId: i, Input: u, Call: int64(u.call), Return: int64(u.ret)})
	}
	if porcupine.CheckOperations(plainRegisterModel(), ops) {
		return porcupine.Ok
	}
	return porcupine.Illegal
}

// TestPlainLinearizable compares every way in which a register or a lock is decided with porcupine on all operations.
func TestPlainLinearizable(t *testing.T) {
	want := map[porcupine.CheckResult]Verdict{porcupine.Ok: Valid, porcupine.Illegal: Invalid}
	tried, illegal, zoned := 0, 0, 0
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		o := drawObject(t)
		plain := want[byPorcupine(o.uses)]
		found := o.decide(ctx)
		require.Equal(t, plain, found.answer, "%+v", o.uses)
		require.Equal(t, plain, linearize(ctx, o, slices.Clone(o.uses), holding{}, small).answer, "not pruned: %+v", o.uses)
		tried++
		if _, _, ok := o.clusters(o.prune(slices.Clone(o.uses))); ok {
			zoned++
		}
		if plain == Valid {
			return
		}
		illegal++
		core, holds := o.lessen(ctx, found)
		require.NotEmpty(t, core)
		require.LessOrEqual(t, len(core), len(o.uses))
		require.False(t, porcupine.CheckOperations(o.model(holds), operationsOf(core)), "%+v held, no evidence: %+v", holds, core)
		for i := range core {
			if less := o.without(core, i, i+1); len(less) < len(core) {
				require.True(t, porcupine.CheckOperations(o.model(holds), operationsOf(less)), "more than it takes: %+v", core)
			}
		}
	})
	t.Logf("%d histories, %d %% illegal, %d %% decided by zones", tried, 100*illegal/tried, 100*zoned/tried)
	require.Greater(t, 100*illegal, 40*tried, "too few illegal ones to tell")
	require.Greater(t, 100*zoned, 10*tried)
}

func operationsOf(uses []action) (ops []porcupine.Operation) {
	for i := range uses {
		u := &uses[i]
		ops = append(ops, porcupine.Operation{ClientId: int(u.begin), Input: u, Call: int64(u.call), Return: int64(u.ret)})
	}
	return ops
}
