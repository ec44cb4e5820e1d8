package checkers

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers/linear"
	"recount/history"
)

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
	require.Empty(t, register.Ops, "nobody knows what was read")
	require.Equal(t, 1, register.failed)
	require.Equal(t, 1, lock.failed)
	require.Len(t, lock.Ops, 2)
	require.True(t, lock.Ops[0].Sure())
	require.False(t, lock.Ops[1].Sure())

	require.Equal(t, 5, int(lock.Ops[1].Client))
	h.Ops[lock.Ops[0].Begin].Process = -7
	require.Equal(t, 0, int(objects(h)[1].Ops[0].Client), "pictures have no lines below 0")

	h, err = history.New([]history.Op{
		{F: history.Put, Type: history.Invoke, Reg: &history.Register{Key: "x", Value: "7"}},
		{F: history.Put, Type: history.OK, Index: 1, Time: 1},
	})
	require.NoError(t, err)
	all = objects(h)
	require.Equal(t, "register x", all[0].name())
	require.Equal(t, "wrote 7", all[0].Tell(&all[0].Ops[0]), "what it was to write is what was written")
}

// judged is what linearizable says of a history.
func judged(t *testing.T, text string) Result {
	h, err := parseHistory("nodes n1\n" + text + "\n10s end")
	require.NoError(t, err)
	return find("linearizable").Check(linear.WithMemory(context.Background(), 16<<20), h)
}

// TestTooMuchAtOnce goes to the limits of what can be under way.
func TestTooMuchAtOnce(t *testing.T) {
	both := func(n int) string { return strings.Repeat("1s-9s client put 1\n1s-9s client get 1\n", n/2) }
	require.Equal(t, Valid, judged(t, both(128)).Verdict)
	r := judged(t, both(128+2))
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
	for i := range 2 * 128 {
		fmt.Fprintf(&b, "2s-3s client put %d\n", i+10)
	}
	r = judged(t, "0s client put 1\n1s client get 1\n"+b.String()+"4s client get 1")
	require.Equal(t, Invalid, r.Verdict)
	require.Len(t, r.Ops, 3)
}

// TestHeldBefore says what a register held where that is all that is known of what was before.
func TestHeldBefore(t *testing.T) {
	h, err := parseHistory("nodes n1\n1s c1 put 1\n2s-4s c1 put 2\n2.5s c2 get 2\n3s c3 get 1")
	require.NoError(t, err)
	o := objects(h)[0]
	core := o.Ops[1:]
	f := &facts{h: h}
	require.Equal(t, "no order explains the register, which held 1: process 1 wrote 2, process 2 read 2 and process 3 read 1",
		f.conflict(o, linear.Evidence{Ops: core, Before: linear.State{Value: o.Ops[0].Value}}))
	require.Equal(t, "no order explains the register: process 1 wrote 2, process 2 read 2 and process 3 read 1",
		f.conflict(o, linear.Evidence{Ops: core}))
}
