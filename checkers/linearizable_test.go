package checkers

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

	"recount/history"
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
		if _, ok := o.clusters(o.prune(slices.Clone(o.uses))); ok {
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

// TestObjects has nothing to go by but that an operation began, and how it ended.
func TestObjects(t *testing.T) {
	var ops []history.Op
	for i, end := range []history.Type{history.OK, history.Fail, history.Info} {
		for k, f := range []history.F{history.Get, history.Acquire} {
			op := history.Op{Process: history.Process(2*i + k), F: f, Type: history.Invoke, Time: time.Duration(len(ops))}
			ops = append(ops, op)
			op.Type, op.Time = end, op.Time+1
			ops = append(ops, op)
		}
	}
	for i := range ops {
		ops[i].Index = i
	}
	h, err := history.New(ops)
	require.NoError(t, err)
	all := objects(h)
	require.Len(t, all, 2)
	register, lock := all[0], all[1]
	require.Empty(t, register.uses, "nobody knows what was read")
	require.Equal(t, 1, register.failed)
	require.Equal(t, 1, lock.failed)
	require.Len(t, lock.uses, 2)
	require.True(t, lock.uses[0].sure())
	require.False(t, lock.uses[1].sure())

	h.Ops[lock.uses[0].begin].Process = -7
	require.Equal(t, 0, operations(h, lock.uses)[0].ClientId, "pictures have no lines below 0")
	require.Equal(t, 5, operations(h, lock.uses)[1].ClientId)

	h, err = history.New([]history.Op{
		{F: history.Put, Type: history.Invoke, Reg: &history.Register{Key: "x", Value: "7"}},
		{F: history.Put, Type: history.OK, Index: 1, Time: 1},
	})
	require.NoError(t, err)
	all = objects(h)
	require.Equal(t, "register x", all[0].name())
	require.Equal(t, "wrote 7", all[0].tell(&all[0].uses[0]), "what it was to write is what was written")
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
			for _, u := range o.prune(slices.Clone(o.uses)) {
				s := o.tell(&u)
				if u.sure() {
					s += " by " + u.ret.String()
				}
				got = append(got, s)
			}
			require.Equal(t, c.want, strings.Join(got, ", "))
		})
	}
}

// judged is what linearizable says of a history.
func judged(t *testing.T, text string) Result {
	h, err := parseHistory("nodes n1\n" + text + "\n10s end")
	require.NoError(t, err)
	return find("linearizable").Check(WithMemory(context.Background(), small), h)
}

// TestTooMuchAtOnce goes to the limits of what can be under way.
func TestTooMuchAtOnce(t *testing.T) {
	both := func(n int) string { return strings.Repeat("1s-9s client put 1\n1s-9s client get 1\n", n/2) }
	require.Equal(t, Valid, judged(t, both(mostAtOnce)).Verdict)
	r := judged(t, both(mostAtOnce+2))
	require.Equal(t, Unknown, r.Verdict)
	require.Contains(t, r.Why, "the register: more than 128 operations overlap: let fewer clients act at once")

	// Of uses of unknown outcome that do the same, 255 can be told to have happened.
	flips := func(n int) string {
		text := strings.Repeat("1s client cas 1 2 unknown\n", 300)
		for i := range n {
			text += fmt.Sprintf("%dms client put 1\n%dms client get 2\n", 2000+2*i, 2001+2*i)
		}
		return text
	}
	require.Equal(t, Valid, judged(t, flips(255)).Verdict)
	r = judged(t, flips(256))
	require.Equal(t, Unknown, r.Verdict)
	require.Contains(t, r.Why, "more than 255 operations of unknown outcome do the same")
	require.Equal(t, Invalid, judged(t, flips(256)+"8s client put 3\n9s client get 1").Verdict)

	// Where writes differ there is no limit, to what shows the violation neither.
	var b strings.Builder
	for i := range 2 * mostAtOnce {
		fmt.Fprintf(&b, "2s-3s client put %d\n", i+10)
	}
	r = judged(t, "0s client put 1\n1s client get 1\n"+b.String()+"4s client get 1")
	require.Equal(t, Invalid, r.Verdict)
	require.Len(t, r.Ops, 3)
}

// TestIllegalFrom has a register hold something before: who read that is no witness against anybody.
func TestIllegalFrom(t *testing.T) {
	h, err := parseHistory("nodes n1\n1s client get 1\n2s client put 2\n3s client get 1")
	require.NoError(t, err)
	o := objects(h)[0]
	one := o.uses[0].value
	ctx := context.Background()
	require.False(t, o.illegal(ctx, o.uses[:2], holding{value: one}))
	require.True(t, o.illegal(ctx, o.uses[1:], holding{value: one}), "it held 1, then 2")
	require.True(t, o.illegal(ctx, o.uses, holding{}))
}

// TestSearchOfObjectsEndsAtTheSameStep wants the memory of a search to be counted, not guessed.
func TestSearchOfObjectsEndsAtTheSameStep(t *testing.T) {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "1s-9s client cas %d %d\n1s client cas %d %d unknown\n1s client put %d unknown\n", i%4, (i+1)%4, i%3, i%4, i%4)
	}
	h, err := parseHistory("nodes n1\n1s client put 0\n" + b.String() + "10s client get 3\n10s client get 2\n")
	require.NoError(t, err)
	o := objects(h)[0]
	for budget, want := range map[int64]string{
		1 << 13: "11 unknown: the search for an order of 39 operations grew beyond 0 MiB",
		1 << 16: "105 unknown: the search for an order of 39 operations grew beyond 0 MiB",
		1 << 20: "8400 unknown: the search for an order of 39 operations grew beyond 1 MiB",
		1 << 22: "4617 valid: ",
	} {
		found := linearize(context.Background(), o, slices.Clone(o.uses), holding{}, budget)
		require.Equal(t, want, fmt.Sprint(found.steps, " ", found.answer, ": ", found.why), "%d bytes", budget)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	found := linearize(gone, o, slices.Clone(o.uses), holding{}, 1<<20)
	require.Equal(t, "1888 unknown: time ran out in the search for an order of 39 operations", fmt.Sprint(found.steps, " ", found.answer, ": ", found.why))
}

// TestHeldBefore says what a register held where that is all that is known of what was before.
func TestHeldBefore(t *testing.T) {
	h, err := parseHistory("nodes n1\n1s c1 put 1\n2s-4s c1 put 2\n2.5s c2 get 2\n3s c3 get 1")
	require.NoError(t, err)
	o := objects(h)[0]
	core := o.uses[1:]
	f := &facts{h: h}
	require.Equal(t, "no order explains the register, which held 1: process 1 wrote 2, process 2 read 2 and process 3 read 1",
		f.conflict(o, holding{value: o.uses[0].value}, nil, core))
	require.Equal(t, "no order explains the register: process 1 wrote 2, process 2 read 2 and process 3 read 1",
		f.conflict(o, holding{}, nil, core))
}
