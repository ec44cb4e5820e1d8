package linear

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// content is what a plain register holds, or a lock.
type content struct{ Value, Revision int }

// topRevision is more than the writes of a small history can reach.
const topRevision = 14

// plainRegisterModel is the specification in the plainest way: what is not known may be anything.
func plainRegisterModel() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{content{}} },
		Step: func(state, input, _ any) (next []any) {
			s, u := state.(content), input.(*Op)
			write := func() {
				for r := s.Revision + 1; r <= topRevision; r++ {
					if u.Revision == 0 || int(u.Revision) == r {
						next = append(next, content{int(u.Value), r})
					}
				}
			}
			switch {
			case u.Kind == Get && s.Value == int(u.Value) && (u.Revision == 0 || int(u.Revision) == s.Revision):
				next = append(next, s)
			case u.Kind == Put, u.Kind == CAS && s.Value == int(u.Old):
				write()
			case u.Kind == Take && s.Value == 0:
				next = append(next, content{Value: 1})
			case u.Kind == Give && s.Value == 1:
				next = append(next, content{})
			}
			if !u.Sure() {
				next = append(next, s)
			}
			return next
		},
		Equal: func(a, b any) bool { return a == b },
	}
	return m.ToModel()
}

// drawObject draws a history of one object: what a right one would do, with some of it told wrongly.
func drawObject(t *rapid.T) *Object {
	kind := rapid.SampledFrom([]string{"distinct", "repeating", "cas", "revisions", "lock"}).Draw(t, "object")
	o := NewObject(kind == "lock")
	n := rapid.IntRange(3, 8).Draw(t, "uses")
	points := make([]int, n)
	for i := range n {
		call := rapid.IntRange(0, 14).Draw(t, "call")
		length := rapid.IntRange(0, 5).Draw(t, "length")
		points[i] = 10*call + rapid.IntRange(0, 10*length).Draw(t, "point")
		u := Op{Call: time.Duration(call), Return: time.Duration(call + length)}
		switch k := rapid.IntRange(0, 9).Draw(t, "kind"); {
		case o.Lock:
			u.Kind = Take + Kind(k%2)
		case k < 5:
			u.Kind = Get
		case k < 8 || kind != "cas" && kind != "revisions":
			u.Kind = Put
		default:
			u.Kind = CAS
		}
		o.Ops = append(o.Ops, u)
	}
	byPoint := make([]int, n)
	for i := range byPoint {
		byPoint[i] = i
	}
	slices.SortStableFunc(byPoint, func(a, b int) int { return cmp.Compare(points[a], points[b]) })
	var s content
	for k, i := range byPoint {
		u := &o.Ops[i]
		happens := true
		switch u.Kind {
		case Get:
			u.Value = int32(s.Value)
		case Put, CAS:
			u.Value = int32(k + 1)
			if kind != "distinct" {
				u.Value = int32(rapid.IntRange(0, 3).Draw(t, "value"))
			}
			if u.Kind == CAS {
				u.Old = int32(rapid.IntRange(0, 3).Draw(t, "old"))
				happens = u.Old == int32(s.Value)
			}
			if happens {
				s = content{int(u.Value), s.Revision + 1}
			}
		case Take, Give:
			if happens = (u.Kind == Take) == (s.Value == 0); happens {
				s.Value = 1 - s.Value
			}
		}
		if u.Kind < Take && kind == "revisions" && rapid.Bool().Draw(t, "tells its revision") {
			u.Revision = uint64(s.Revision)
		}
		if !happens && rapid.IntRange(0, 3).Draw(t, "lie") > 0 || u.Kind != Get && rapid.IntRange(0, 6).Draw(t, "unknown") == 0 {
			u.Return, u.Revision = Never, 0
		}
	}
	for range rapid.IntRange(0, 4).Draw(t, "wrong") {
		u := &o.Ops[rapid.IntRange(0, n-1).Draw(t, "which")]
		switch {
		case u.Revision > 0 && rapid.Bool().Draw(t, "in its revision"):
			u.Revision = uint64(rapid.IntRange(1, 6).Draw(t, "revision"))
		case u.Kind == Get:
			u.Value = int32(rapid.IntRange(0, min(n, 4)).Draw(t, "read"))
		case u.Sure():
			u.Return = u.Call
		}
	}
	slices.SortStableFunc(o.Ops, func(a, b Op) int { return cmp.Compare(a.Call, b.Call) })
	for i := range o.Ops {
		u := &o.Ops[i]
		u.Begin = int32(i)
		o.counted = o.counted || u.Revision != 0
		for len(o.values) <= int(max(u.Value, u.Old)) {
			o.values = append(o.values, string(rune('a'+len(o.values))))
		}
	}
	return o
}

func byPorcupine(uses []Op) porcupine.CheckResult {
	var ops []porcupine.Operation
	for i := range uses {
		u := &uses[i]
		ops = append(ops, porcupine.Operation{ClientId: i, Input: u, Call: int64(u.Call), Return: int64(u.Return)})
	}
	if porcupine.CheckOperations(plainRegisterModel(), ops) {
		return porcupine.Ok
	}
	return porcupine.Illegal
}

// TestPlainLinearizable compares every way in which a register or a lock is decided with porcupine on all operations, and
// wants of the illegal that the operations that show it are illegal by themselves.
func TestPlainLinearizable(t *testing.T) {
	t.Parallel()
	tried, illegal, zoned := 0, 0, 0
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		o := drawObject(t)
		plain := byPorcupine(o.Ops)
		found := o.Decide(ctx)
		require.Equal(t, plain, found.Answer, "%+v", o.Ops)
		timeline := newTimeline(o, slices.Clone(o.Ops), State{})
		wide := timeline.wide(ctx, limits{bytes: small}, false)
		require.Equal(t, plain, wide.Answer, "wide, not pruned: %+v", o.Ops)
		deep := timeline.deep(ctx, limits{bytes: small})
		require.Equal(t, plain, deep.Answer, "deep, not pruned: %+v", o.Ops)
		require.Equal(t, plain, timeline.race(ctx, small).Answer, "%+v", o.Ops)
		if !o.counted && plain == porcupine.Ok {
			require.Equal(t, plain, timeline.wide(ctx, limits{bytes: small}, true).Answer, "without an end: %+v", o.Ops)
		}
		tried++
		if _, ok := o.clusters(o.prune(slices.Clone(o.Ops))); ok {
			zoned++
		}
		if plain == porcupine.Ok {
			return
		}
		illegal++
		require.Equal(t, wide.died, deep.died, "%+v", o.Ops)
		requireDied(t, o, wide)
		shown := o.Evidence(ctx, found)
		require.NotEmpty(t, shown.Ops)
		require.NotNil(t, shown.Died)
		if len(shown.Held) > 0 {
			requireHeld(t, o, *shown.Died, shown.Held)
		}
		named := map[int32]bool{}
		for _, u := range shown.Ops {
			named[u.Begin] = true
			require.Equal(t, o.Ops[u.Begin].Return, u.Return, "what became of it is known")
		}
		alone := slices.DeleteFunc(slices.Clone(o.Ops), func(u Op) bool { return !named[u.Begin] })
		require.Equal(t, porcupine.Illegal, byPorcupine(alone), "no evidence: %+v of %+v", alone, o.Ops)
		if o.Lock {
			return
		}
		for i := range shown.Ops {
			if less := o.without(shown.Ops, i, i+1); len(less) < len(shown.Ops) && !shown.Early {
				if shown.Ops[i].Sure() && o.sourced(less) { // what may have happened is named because it might explain it, and does not
					require.Equal(t, porcupine.Ok, byPorcupine(less), "more than it takes: %+v of %+v", shown.Ops, o.Ops)
				}
			}
		}
	})
	t.Logf("%d histories, %d %% illegal, %d %% decided by zones", tried, 100*illegal/tried, 100*zoned/tried)
	require.Greater(t, 100*illegal, 40*tried, "too few illegal ones to tell")
	require.Greater(t, 100*zoned, 10*tried)
}

// requireDied has an order up to the return at which the last one died, and none from there on; and what was held is what
// the object could hold then.
func requireDied(t *rapid.T, o *Object, found Found) {
	died := o.Ops[found.died]
	require.Equal(t, porcupine.Illegal, byPorcupine(until(o.Ops, died)), "%+v", o.Ops)
	before := until(o.Ops, died)
	for i := range before {
		if u := &before[i]; u.Return == died.Return { // (several may return at once: the search takes the earlier called first)
			u.Return = Never
		}
	}
	require.Equal(t, porcupine.Ok, byPorcupine(before), "%+v", o.Ops)
	requireHeld(t, o, died, found.held)
}

// requireHeld has what was held be what a register could hold until an operation returned, and all of that.
func requireHeld(t *rapid.T, o *Object, died Op, all []State) {
	if o.counted || o.Lock {
		return
	}
	before, at := until(o.Ops, died), 0
	for i := range before {
		if u := &before[i]; u.Return == died.Return {
			u.Return = Never
			at++
		}
	}
	for value := range int32(len(o.values)) {
		seen := Op{Call: died.Return, Return: died.Return, Kind: Get, Value: value, Begin: -1}
		can := byPorcupine(append(slices.Clone(before), seen)) == porcupine.Ok
		told := slices.ContainsFunc(all, func(s State) bool { return s.Value == value })
		if told || at == 1 { // of those that return at once the search takes the earlier called first
			require.Equal(t, can, told, "%v of %v of %+v", value, all, o.Ops)
		}
	}
}

// TestEvidenceTellsWhatIsKnown has operations that returned after the last order had died.
func TestEvidenceTellsWhatIsKnown(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"what came of it later is enough": {
			"1s c1 put 1 revision 3\n2s-8s c2 put 2 revision 2\n3s c3 get 2",
			"wrote 1 (revision 3), wrote 2 (revision 2)",
		},
		"who took what was written later": {
			"1s-3s c1 get 2 revision 1\n2s-6s c2 cas 1 2\n4s-5s c3 put 1 revision 4",
			"read 2 (revision 1), set 1 to 2",
		},
		"what is as much at odds with what came of it later, and needs less": {
			"1s c0 cas 1 2 unknown\n1s c1 put 1 revision 3\n2s c2 put 2 unknown\n2s c3 put 1 unknown\n2s c4 cas 2 2 unknown\n" +
				"4s-9s c5 put 2 revision 3\n6s c6 cas 2 2 revision 3\n9s c7 get 2",
			"wrote 1 (revision 3), wrote 2 (revision 3)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := oneObject(t, c.text)
			shown := o.Evidence(context.Background(), o.Decide(context.Background()))
			var got []string
			for i := range shown.Ops {
				got = append(got, o.Tell(&shown.Ops[i]))
			}
			require.Equal(t, c.want, strings.Join(got, ", "))
		})
	}
}

// TestPruneObject settles and leaves out what follows from what was settled and left out before.
func TestPruneObject(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a change that nobody saw, and the write that nobody else needs": {
			"1s client put 5 unknown\n1s client cas 5 6 unknown\n2s c1 put 1", "wrote 1 by 2s",
		},
		"a change that was seen, and the write that it saw": {
			"1s client put 5 unknown\n1s client cas 5 6 unknown\n2s c1 get 6",
			"wrote 5 by 2s, set 5 to 6 by 2s, read 6 by 2s",
		},
		"a write that two saw, the later of them first": {
			"1s client put 5 unknown\n2s-4s c1 get 5\n2.5s-3s c2 get 5", "wrote 5 by 3s, read 5 by 4s, read 5 by 3s",
		},
		"a write that was read, and perhaps changed": {
			"1s client put 5 unknown\n2s c1 get 5\n3s client cas 5 1 unknown\n4s c1 get 1\n4s client put 1 unknown",
			"wrote 5 by 2s, read 5 by 2s, set 5 to 1 (outcome unknown), read 1 by 4s, wrote 1 (outcome unknown)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := oneObject(t, c.text)
			var got []string
			for _, u := range o.prune(slices.Clone(o.Ops)) {
				s := o.Tell(&u)
				if u.Sure() {
					s += " by " + u.Return.String()
				}
				got = append(got, s)
			}
			require.Equal(t, c.want, strings.Join(got, ", "))
		})
	}
}

// TestSearchOfObjectsEndsAtTheSameStep wants the memory of a search to be counted, not guessed.
func TestSearchOfObjectsEndsAtTheSameStep(t *testing.T) {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "1s-9s client cas %d %d\n1s client cas %d %d unknown\n1s client put %d unknown\n", i%4, (i+1)%4, i%3, i%4, i%4)
	}
	o := oneObject(t, "1s client put 0\n"+b.String()+"10s client get 3\n10s client get 2\n")
	timeline := newTimeline(o, o.Ops, State{})
	for budget, want := range map[int64]string{
		1 << 13: "5 Unknown: the search for an order of 39 operations grew beyond 1 MiB",
		1 << 16: "34 Unknown: the search for an order of 39 operations grew beyond 1 MiB",
		1 << 20: "879 Unknown: the search for an order of 39 operations grew beyond 1 MiB",
	} {
		found := timeline.wide(context.Background(), limits{bytes: budget}, false)
		require.Equal(t, want, fmt.Sprint(found.Steps, " ", found.Answer, ": ", found.Why), "%d bytes", budget)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	found := timeline.wide(gone, limits{bytes: small}, false)
	require.Equal(t, "1024 Unknown: time ran out in the search for an order of 39 operations", fmt.Sprint(found.Steps, " ", found.Answer, ": ", found.Why))
}
