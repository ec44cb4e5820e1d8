package checkers

import (
	"context"
	"fmt"
	"slices"
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
	for i := range h.Ops {
		h.Ops[i].Process = min(h.Ops[i].Process, history.Harness) // each of them has ended before the next
	}
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

// TestWhereTheLastOrderDied names the operation, and what the register can have held then.
func TestWhereTheLastOrderDied(t *testing.T) {
	r := judged(t, "1s c1 put 1\n2s-4s c1 put 2\n2.5s c2 get 2\n3s c3 get 1")
	require.Equal(t, Invalid, r.Verdict)
	require.Equal(t, "no order explains the register: process 1 wrote 1, process 1 wrote 2, process 2 read 2 and process 3 read 1; "+
		"none is left when process 3 read 1 by 3.000 s, because it can have held only 2", r.Why)
	died, _ := value(r, "the last order ended with")
	require.Equal(t, "op 7", died)
	held, _ := value(r, "what it can have held then")
	require.Equal(t, "2", held)
}

// TestWhatWasHeldIsOfAllOperations has writes that the evidence does without: what the register can have held is theirs.
func TestWhatWasHeldIsOfAllOperations(t *testing.T) {
	for text, want := range map[string]string{
		"1s c1 put 1\n2s c2 put 2\n2.5s-9s c4 put 3\n5s c3 get 1": "2 or 3",
		"1s c1 put 1\n2s c2 get 1\n3s c3 get 7":                   "1",
	} {
		r := judged(t, text)
		require.Equal(t, Invalid, r.Verdict)
		held, _ := value(r, "what it can have held then")
		require.Equal(t, want, held, r.Why)
	}
}

// TestUndecidedRegister is one whose values repeat so that no search ends with the memory that it may take.
func TestUndecidedRegister(t *testing.T) {
	var b strings.Builder
	b.WriteString("nodes n1\n")
	for i := range 14 {
		fmt.Fprintf(&b, "1s-9s client cas %d %d\n1s-9s client cas %d %d\n", i%5, (i+2)%5, (i*3)%5, (i*3+1)%5)
	}
	b.WriteString("1s-9s client put 0\n9.5s client get 3\n9.6s client get 4\n10s end")
	h, err := parseHistory(b.String())
	require.NoError(t, err)
	r := find("linearizable").Check(linear.WithMemory(context.Background(), 64<<10), h)
	require.Equal(t, Unknown, r.Verdict, r.Why)
	require.Contains(t, r.Why, "were under way at once")
}

// TestFoundAtFirst says how to tell what was there at first, where somebody else's history does not, and nothing surely came before.
func TestFoundAtFirst(t *testing.T) {
	for text, want := range map[string]string{
		"1s-2s c1 put 1\n2s-3s c2 get 7":   "process 2 read 7 from the register by 3.000 s, which nobody had written: if it was there at first, --initial '7' says so",
		"1s-2s c1 put 1\n2.1s-3s c2 get 7": "process 2 read 7 from the register by 3.000 s, which nobody had written",
	} {
		h, err := parseHistory("nodes n1\n" + text + "\n10s end")
		require.NoError(t, err)
		h.Ops[0].Setup.Model = "register"
		require.Equal(t, want, find("linearizable").Check(t.Context(), h).Why)
	}
}

// TestConflictWithoutLastOrder does not tell when the last order died where that took too much to find out.
func TestConflictWithoutLastOrder(t *testing.T) {
	h, err := parseHistory("nodes n1\n1s c1 put 1\n2s-4s c1 put 2\n2.5s c2 get 2\n3s c3 get 1\n10s end")
	require.NoError(t, err)
	u := usesIn(h)
	o := u.objects()[0]
	require.Equal(t, "no order explains the register: process 1 wrote 1, process 1 wrote 2, process 2 read 2 and process 3 read 1",
		u.conflict(o, linear.Evidence{Ops: o.Ops}))
}

// TestConflictOfSeveralReleases is no matter of who took the lock, where that and one release are not enough.
func TestConflictOfSeveralReleases(t *testing.T) {
	h, err := parseHistory("nodes n1\n1s c1 acquire\n2s c2 release\n3s c3 release\n10s end")
	require.NoError(t, err)
	u := usesIn(h)
	o := u.objects()[0]
	require.Equal(t, "no order explains the lock: process 1 took the lock, process 2 released the lock and process 3 released the lock",
		u.conflict(o, linear.Evidence{Ops: o.Ops}))
}

// TestLockBesideAnInitialValue has a lock that is free at first, whatever registers hold.
func TestLockBesideAnInitialValue(t *testing.T) {
	h := given(t, "testdata/linearizable/valid-lock.txt")
	want := find("linearizable").Check(t.Context(), h)
	h.Ops[0].Setup.Initial = "7"
	got := find("linearizable").Check(t.Context(), h)
	require.Equal(t, want.Why, got.Why)
	require.Equal(t, Valid, got.Verdict)
}

// TestWhomTransactionsAreAbout tells faults of the nodes that were asked from those elsewhere.
func TestWhomTransactionsAreAbout(t *testing.T) {
	h, err := parseHistory("nodes n1 n2 n3\n1s nemesis inject disk-full n1: fill n1\n2s nemesis inject disk-full n2: fill n2\n9s end")
	require.NoError(t, err)
	ops := slices.Clone(h.Ops[:len(h.Ops)-1])
	for i, uses := range [][]history.Use{{{F: history.Put, Key: "x", Value: "1"}}, {{F: history.Get, Key: "x", Value: "2"}}} {
		op := history.Op{Process: history.Process(i), Node: "n1", F: history.Txns, Type: history.Invoke, Time: time.Duration(3+i) * time.Second}
		op.Value = &history.Txn{Uses: uses}
		ops = append(ops, op)
		op.Type = history.OK
		ops = append(ops, op)
	}
	ops = append(ops, h.Ops[len(h.Ops)-1])
	for i := range ops {
		ops[i].Index = i
	}
	h, err = history.New(ops)
	require.NoError(t, err)
	r := CheckSome(t.Context(), h, []string{"linearizable"})[0]
	require.Equal(t, Invalid, r.Verdict, r.Why)
	then, _ := value(r, FaultsThen)
	require.Equal(t, "disk-full of n1; elsewhere: disk-full of n2", then)
}

// A lock that names its users is given back by the one who took it. Where some are not named, anybody may.
func TestLocksAreGivenBackByWhoTookThem(t *testing.T) {
	for want, uses := range map[string]string{
		"valid: both named":                "acquire a, release a, acquire b, release b",
		"invalid: by another":              "acquire a, release b, acquire c",
		"valid: nobody is named":           "acquire, release, acquire",
		"valid: who gives it back is not":  "acquire a, release, acquire b, release",
		"valid: the first is not":          "acquire, release b, acquire a, release c",
		"invalid: twice, whoever it is":    "acquire a, release, release",
		"invalid: taken twice, by whoever": "acquire, acquire b",
	} {
		var b strings.Builder
		b.WriteString(`{"process":"harness","type":"ok","f":"begin","value":{"nodes":["n1","n2"],"initial":"b"}}` + "\n") // of registers
		for i, use := range strings.Split(uses, ", ") {
			f, who, _ := strings.Cut(use, " ")
			value := "{}"
			if who != "" {
				value = fmt.Sprintf(`{"value":%q}`, who)
			}
			for k, is := range []string{"invoke", "ok"} {
				fmt.Fprintf(&b, `{"index":%d,"time":%d,"process":%d,"type":%q,"f":%q,"value":%s}`+"\n", 2*i+k+1, 2*i+k+1, i, is, f, value)
			}
		}
		b.WriteString(`{"index":99,"time":99,"process":"harness","type":"ok","f":"end"}` + "\n")
		h, err := history.Parse(strings.NewReader(b.String()))
		require.NoError(t, err)
		r := CheckSome(t.Context(), h, []string{"linearizable"})[0]
		verdict, _, _ := strings.Cut(want, ":")
		require.Equal(t, verdict, r.Verdict.String(), "%s: %s", want, r.Why)
	}
}
