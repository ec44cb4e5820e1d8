package checkers

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"recount/checkers/linear"
	"recount/history"
	"recount/history/jepsen"
)

// TestModelsOfOthers judges histories of every model that Jepsen's tests have, once legal and once not.
func TestModelsOfOthers(t *testing.T) {
	pair := func(process int, f, invoked, told string) string {
		return fmt.Sprintf("{:type :invoke, :process %d, :f :%s, :value %s} {:type :ok, :process %d, :f :%s, :value %s}\n", process, f, invoked, process, f, told)
	}
	open := func(process int, f, value string) string {
		return fmt.Sprintf("{:type :invoke, :process %d, :f :%s, :value %s} {:type :info, :process %d, :f :%s, :value %s}\n", process, f, value, process, f, value)
	}
	toldLate := func(process int, invoked, told string) string {
		return fmt.Sprintf("{:type :invoke, :process %d, :f :write, :value %s} {:type :info, :process %d, :f :write, :value %s}\n", process, invoked, process, told)
	}
	fail := func(process int, f, invoked, told string) string {
		return fmt.Sprintf("{:type :invoke, :process %d, :f :%s, :value %s} {:type :fail, :process %d, :f :%s, :value %s}\n", process, f, invoked, process, f, told)
	}
	var told strings.Builder
	for _, c := range []struct {
		name, model, initial string
		independent          bool
		want                 Verdict
		ops                  []string
		says                 string
	}{
		{name: "initial value read", initial: "0", want: Valid, ops: []string{pair(1, "read", "nil", "0"), pair(0, "write", "1", "1"), pair(1, "read", "nil", "1")}},
		{name: "initial value not told", want: Invalid, ops: []string{pair(1, "read", "nil", "0"), pair(0, "write", "1", "1")},
			says: "process 1 read 0 from the register by 0.002 s, which nobody had written"},
		{name: "a value of nobody beside one that was told", initial: "5", want: Invalid, ops: []string{pair(1, "read", "nil", "7"), pair(0, "write", "1", "1")}},
		{name: "a value of nobody after another was read", want: Invalid, ops: []string{
			"{:type :invoke, :process 0, :f :write, :value 1}", pair(1, "read", "nil", "1"), pair(2, "read", "nil", "7")}},
		{name: "initial value of a cas", initial: "0N", want: Valid, ops: []string{pair(0, "cas", "[0 1]", "[0 1]"), pair(1, "read", "nil", "1")}},
		{name: "initial value that came back", initial: "0", want: Invalid, ops: []string{pair(0, "write", "1", "1"), pair(1, "read", "nil", "0")}},
		{name: "nil written over an initial value", initial: "0", want: Valid, ops: []string{pair(0, "cas", "[0 1]", "[0 1]"), pair(0, "write", "nil", "nil"), pair(1, "cas", "[nil 2]", "[nil 2]")}},
		{name: "initial value of each key", initial: "0", independent: true, want: Valid,
			ops: []string{pair(0, "read", "[:x nil]", "[:x 0]"), pair(1, "read", "[:y nil]", "[:y 0]"), pair(1, "read", "[:x nil]", "[:x 0]"), pair(1, "write", "[:x 1]", "[:x 1]")}},
		{name: "a value told only by its ok", want: Valid, ops: []string{pair(0, "write", "nil", "7"), pair(1, "read", "nil", "7")}},
		{name: "equal values in other words", want: Valid, ops: []string{pair(0, "write", "{:a 1, :b [2]}", "{:a 1, :b [2]}"), pair(1, "read", "nil", "{:b (2N), :a 1}")}},
		{name: "a number is no float", want: Invalid, ops: []string{pair(0, "write", "1", "1"), pair(1, "read", "nil", "1.0")}},

		{name: "found and told", model: "compare-exchange-register", want: Valid, ops: []string{pair(0, "write", "5", "5"), fail(1, "cas", "[1 2]", "5")}},
		{name: "told what was not there", model: "compare-exchange-register", want: Invalid, ops: []string{pair(0, "write", "5", "5"), pair(0, "write", "6", "6"), fail(1, "cas", "[1 2]", "5")}},
		{name: "told as a pair", model: "compare-exchange-register", want: Invalid, ops: []string{pair(0, "write", "5", "5"), pair(0, "write", "6", "6"), fail(1, "cas", "[1 2]", "[5 2]")}},
		{name: "told nothing new", model: "compare-exchange-register", want: Valid, ops: []string{pair(0, "write", "5", "5"), pair(1, "read", "nil", "5"), fail(1, "cas", "[1 2]", "[1 2]")}},
		{name: "of a plain register a fail tells nothing", want: Valid, ops: []string{pair(0, "write", "5", "5"), pair(1, "read", "nil", "5"), fail(1, "cas", "[1 2]", "9")}},

		{name: "given back by another", model: "owned-mutex", want: Invalid, ops: []string{pair(0, "acquire", "nil", "nil"), pair(1, "release", "nil", "nil")},
			says: "process 1 released the lock by 0.004 s, though process 0 had taken it by 0.002 s"},
		{name: "given back by another, plain", model: "mutex", want: Valid, ops: []string{pair(0, "acquire", "nil", "nil"), pair(1, "release", "nil", "nil")}},
		{name: "given back by its owner", model: "owned-mutex", want: Valid, ops: []string{pair(0, "acquire", "nil", "nil"), pair(0, "release", "nil", "nil"), pair(1, "acquire", "nil", "nil")}},
		{name: "given back under the same name", model: "owned-mutex", want: Valid,
			ops: []string{pair(0, "acquire", `{:client "a"}`, "nil"), pair(1, "release", `{:client "a"}`, "nil")}},
		{name: "given back by two", model: "mutex", want: Invalid, ops: []string{pair(0, "acquire", "nil", "nil"), "{:type :invoke, :process 2, :f :release}",
			pair(1, "release", "nil", "nil"), "{:type :ok, :process 2, :f :release}"},
			says: "process 2 released the lock by 0.006 s, though process 1 had released it by 0.005 s, and nobody had taken it since"},
		{name: "given back before anybody took it", model: "mutex", want: Invalid, ops: []string{pair(1, "release", "nil", "nil"), pair(0, "acquire", "nil", "nil")},
			says: "process 1 released the lock by 0.002 s, though it was free"},
		{name: "given back by who had it not, while another may have had it", model: "owned-mutex", want: Invalid, ops: []string{open(0, "acquire", "nil"), pair(1, "release", "nil", "nil")},
			says: "process 1 released the lock by 0.004 s, though it did not hold it"},
		{name: "taken by two", model: "owned-mutex", want: Invalid, ops: []string{pair(0, "acquire", "nil", "nil"), pair(1, "acquire", "nil", "nil")}},
		{name: "released perhaps by its owner", model: "owned-mutex", want: Valid,
			ops: []string{pair(0, "acquire", "nil", "nil"), open(0, "release", "nil"), pair(1, "acquire", "nil", "nil")}},

		{name: "revisions of one store fall", model: "revisioned-store", want: Invalid,
			ops:  []string{pair(0, "write", "[:a [nil 1]]", "[:a [9 1]]"), pair(1, "write", "[:b [nil 1]]", "[:b [5 1]]"), pair(1, "read", "[:a nil]", "[:a [9 1]]")},
			says: "revisions of one store must rise"},
		{name: "revisions of two stores", model: "revisioned-register", independent: true, want: Valid,
			ops: []string{pair(0, "write", "[:a [nil 1]]", "[:a [9 1]]"), pair(1, "write", "[:b [nil 1]]", "[:b [5 1]]"), pair(1, "read", "[:a nil]", "[:a [9 1]]")}},
		{name: "revisions of one store rise", model: "revisioned-store", want: Valid,
			ops: []string{pair(0, "write", "[:a [nil 1]]", "[:a [4 1]]"), pair(1, "write", "[:b [nil 1]]", "[:b [5 1]]"), pair(1, "read", "[:a nil]", "[:a [4 1]]")}},
		{name: "one revision of two keys", model: "revisioned-store", want: Invalid,
			ops:  []string{pair(0, "write", "[:a [nil 1]]", "[:a [4 1]]"), pair(1, "write", "[:b [nil 1]]", "[:b [4 1]]"), pair(1, "read", "[:a nil]", "[:a [4 1]]")},
			says: "both changed in revision 4"},
		{name: "read before a lower revision than one that was done", model: "revisioned-store", want: Invalid, ops: []string{
			pair(0, "write", "[:b [nil 1]]", "[:b [3 1]]"),
			"{:type :invoke, :process 5, :f :write, :value [:b [nil 2]]}",
			pair(0, "write", "[:a [nil 1]]", "[:a [9 1]]"), pair(1, "read", "[:b nil]", "[:b [3 1]]"),
			"{:type :ok, :process 5, :f :write, :value [:b [5 2]]}",
		}},

		{name: "writes of a store that never told", model: "revisioned-store", want: Valid, ops: []string{
			open(2, "write", "[:a [nil 2]]"), open(3, "write", "[:b [nil 2]]"), pair(0, "write", "[:a [nil 1]]", "[:a [4 1]]"), pair(1, "read", "[:a nil]", "[:a [4 1]]")}},

		{name: "read at a lower revision than one that was done before it was written", model: "revisioned-store", want: Invalid,
			ops:  []string{pair(0, "write", "[:a [nil 1]]", "[:a [9 1]]"), open(2, "write", "[:b [nil 2]]"), pair(1, "read", "[:b nil]", "[:b [5 2]]")},
			says: "b had not come to revision 5 by"},
		{name: "found unwritten at revision 0, after a write", model: "revisioned-register", want: Invalid,
			ops:  []string{pair(0, "write", "[nil 1]", "[1 1]"), pair(1, "read", "nil", "[0 nil]")},
			says: "process 1 read nothing from the register after 0.003 s, though 1 had been written by 0.002 s"},
		{name: "found unwritten at revision 0, beside a write", model: "revisioned-store", want: Valid, ops: []string{
			"{:type :invoke, :process 0, :f :write, :value [:a [nil 1]]}", pair(1, "read", "[:a nil]", "[:a [0 nil]]"),
			"{:type :ok, :process 0, :f :write, :value [:a [4 1]]}"}},
		{name: "found at revision 0 what was there at first", model: "revisioned-register", initial: "7", want: Valid,
			ops: []string{pair(1, "read", "nil", "[0 nil]"), pair(0, "write", "[nil 1]", "[1 1]")}},
		{name: "a read of no value, though of a revision", model: "revisioned-register", want: Valid,
			ops: []string{pair(0, "write", "[nil 1]", "[1 1]"), pair(1, "read", "nil", "[1 nil]"), pair(1, "read", "nil", "[1 1]")}},
		{name: "a value told only by its info, with a revision", model: "revisioned-register", want: Valid,
			ops: []string{toldLate(0, "nil", "[nil 7]"), pair(1, "read", "nil", "[1 7]")}},
		{name: "a value told only by its info, with a key and a revision", model: "revisioned-store", want: Valid,
			ops: []string{toldLate(0, "[:a nil]", "[:a [nil 7]]"), pair(1, "read", "[:a nil]", "[:a [1 7]]")}},
		{name: "a value told only by its info, with a key", independent: true, want: Valid,
			ops: []string{toldLate(0, "[:a nil]", "[:a 7]"), pair(1, "read", "[:a nil]", "[:a 7]")}},
		{name: "a value told only by its info, with another key", independent: true, want: Invalid,
			ops: []string{toldLate(0, "[:a nil]", "[:b 7]"), pair(1, "read", "[:a nil]", "[:a 7]")}},
		{name: "transactions", want: Valid, initial: "0",
			ops: []string{pair(0, "txn", "[[:write :x 1] [:write :y 1]]", "[[:write :x 1] [:write :y 1]]"), pair(1, "txn", "[[:r :x nil] [:r :y nil]]", "[[:r :x 1] [:r :y 1]]")}},
		{name: "half a transaction", want: Invalid, initial: "{:x 0, :y 0}",
			ops:  []string{pair(0, "txn", "[[:w :x 1] [:w :y 1]]", "[[:w :x 1] [:w :y 1]]"), pair(1, "txn", "[[:r :x nil] [:r :y nil]]", "[[:r :x 1] [:r :y 0]]")},
			says: "no order explains these transactions"},
		{name: "its own write", want: Valid, ops: []string{pair(0, "txn", "[[:w :x 1] [:r :x nil]]", "[[:w :x 1] [:r :x 1]]"), pair(1, "txn", "[[:r :x nil]]", "[[:r :x nil]]")}},
		{name: "a transaction that may have happened", want: Valid,
			ops: []string{open(0, "txn", "[[:w :x 1]]"), pair(1, "txn", "[[:w :y 1]]", "[[:w :y 1]]"), pair(1, "txn", "[[:r :x nil]]", "[[:r :x 1]]")}},
		{name: "a transaction that did not", want: Invalid,
			ops: []string{fail(0, "txn", "[[:w :x 1]]", "[[:w :x 1]]"), pair(1, "txn", "[[:r :x nil]]", "[[:r :x 1]]")}},
		{name: "what a transaction of unknown outcome asked for", want: Valid, initial: "0", ops: []string{
			pair(0, "txn", "[[:w :x 7]]", "[[:w :x 7]]"), open(2, "txn", "[[:r :x nil] [:w :z 3]]"), pair(1, "txn", "[[:r :z nil]]", "[[:r :z 3]]")}},
		{name: "transactions none of which happened", want: Unknown, ops: []string{fail(0, "txn", "[[:w :x 1]]", "[[:w :x 1]]")},
			says: "no transaction told what it found"},
		{name: "transactions that read what was there at first", want: Valid, initial: "{:x 7, :z 1}",
			ops: []string{pair(0, "txn", "[[:w :y 1]]", "[[:w :y 1]]"), open(2, "txn", "[[:r :x 5] [:w :z 3]]"), fail(3, "txn", "[[:w :x 9]]", "[[:w :x 9]]"),
				pair(1, "txn", "[[:r :x nil] [:r :y nil]]", "[[:r :x 7] [:r :y 1]]")}},
		{name: "transactions that read what was not there at first", want: Invalid, initial: "{:x 7, :z 1}",
			ops: []string{pair(0, "txn", "[[:w :x 1]]", "[[:w :x 1]]"), pair(1, "txn", "[[:r :x nil]]", "[[:r :x 7]]"), pair(0, "txn", "[[:r :z nil]]", "[[:r :z 1]]")}},
		{name: "a transaction under way", want: Invalid, initial: "0", ops: []string{
			"{:type :invoke, :process 5, :f :txn, :value [[:w :x 1] [:w :y 1]]}",
			pair(1, "txn", "[[:r :x nil]]", "[[:r :x 1]]"), pair(2, "txn", "[[:r :y nil]]", "[[:r :y 0]]")}},
		{name: "transactions that read nothing", want: Unknown, ops: []string{pair(0, "txn", "[[:w :x 1]]", "[[:w :x 1]]"), pair(1, "txn", "[[:w :x 2]]", "[[:w :x 2]]")}},
		{name: "transactions that write nothing", want: Unknown, initial: "7", says: "nothing was written",
			ops: []string{pair(0, "txn", "[[:r :x nil]]", "[[:r :x 7]]"), pair(1, "txn", "[[:r :x nil]]", "[[:r :x 7]]"), fail(2, "txn", "[[:w :x 1]]", "[[:w :x 1]]")}},
		{name: "transactions of one client", want: Unknown, ops: []string{pair(0, "txn", "[[:w :x 1]]", "[[:w :x 1]]"), pair(0, "txn", "[[:r :x nil]]", "[[:r :x 1]]")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := jepsen.Options{Model: c.model, Independent: c.independent}
			if c.initial != "" {
				var err error
				o.Initial, err = jepsen.ParseInitial(strings.NewReader(c.initial))
				require.NoError(t, err)
			}
			h, m, err := jepsen.Read(strings.NewReader("["+strings.Join(c.ops, "")+"]"), jepsen.EDN, o)
			require.NoError(t, err)
			r := CheckSome(context.Background(), h, m.Properties)[0]
			require.Equal(t, c.want, r.Verdict, r.Why)
			require.Contains(t, r.Why, c.says)
			fmt.Fprintf(&told, "== %s\n%v: %s\nops %v, %v to %v\n", c.name, r.Verdict, r.Why, r.Ops, r.From, r.To)
			for _, f := range r.Figures {
				fmt.Fprintf(&told, "%s: %s\n", f.Name, f.Value)
			}
			if r.Verdict == Invalid {
				convicts(t, h, m, r)
				require.NotEmpty(t, r.Drawing, "porcupine draws what it decided")
				require.Equal(t, c.model == "revisioned-store", strings.Contains(string(r.Drawing), "came to revision"))
			}
		})
	}
	const file = "testdata/foreign.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(told.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), told.String())
}

// TestOfWhichNodesTransactionsAndRevisionsAre has faults told of first that touched the nodes that were used.
func TestOfWhichNodesTransactionsAndRevisionsAre(t *testing.T) {
	txn := func(f history.F, value string) *history.Txn {
		return &history.Txn{Uses: []history.Use{{F: f, Key: "x", Value: value}}}
	}
	for name, use := range map[string]struct {
		f        history.F
		oneCount bool
		of       func(i int) (*history.Register, any)
	}{
		"transactions": {f: history.Txns, of: func(i int) (*history.Register, any) {
			return nil, []any{txn(history.Put, "1"), txn(history.Get, "2")}[i]
		}},
		"revisions of a store": {f: history.Put, oneCount: true, of: func(i int) (*history.Register, any) {
			return &history.Register{Key: []string{"a", "b"}[i], Value: "1", Revision: uint64(9 - i)}, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			isolate := &history.Fault{ID: 1, Name: "kill", Nodes: []string{"n1"}}
			ops := []history.Op{
				{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{Nodes: []string{"n1", "n2"}, OneCount: use.oneCount}},
				{Process: history.Nemesis, Type: history.Invoke, F: history.Inject, Fault: isolate},
				{Process: history.Nemesis, Type: history.OK, F: history.Inject, Fault: isolate},
			}
			for i := range 2 {
				op := history.Op{Process: history.Process(3 + i), Node: "n1", F: use.f, Type: history.Invoke}
				op.Reg, op.Value = use.of(i)
				ops = append(ops, op)
				op.Type = history.OK
				ops = append(ops, op)
			}
			ops = append(ops, history.Op{Process: history.Harness, Type: history.OK, F: history.End})
			for i := range ops {
				ops[i].Index, ops[i].Time = i, time.Duration(i)*time.Second
			}
			h, err := history.New(ops)
			require.NoError(t, err)
			r := find("linearizable").Check(context.Background(), h)
			require.Equal(t, Invalid, r.Verdict, r.Why)
			then, _ := value(r, FaultsThen)
			require.Equal(t, "kill of n1", then)
			require.Equal(t, ops[len(ops)-2].Time, r.To)
		})
	}
}

// TestATransactionOfWhichNothingIsKnown is one that may have done nothing; the others are told apart by who made them.
func TestATransactionOfWhichNothingIsKnown(t *testing.T) {
	h, err := history.New([]history.Op{
		{Process: 3, F: history.Txns, Type: history.Invoke},
		{Process: 5, F: history.Txns, Type: history.Invoke, Index: 1, Value: &history.Txn{}},
	})
	require.NoError(t, err)
	u := &uses{facts: &facts{}}
	for i := range h.Ops {
		u.ops++
		u.take(&h.Ops[i])
	}
	all := u.transactions()
	require.Equal(t, 2, all.maybe)
	require.Equal(t, []int32{3, 5}, []int32{all.Ops[0].Client, all.Ops[1].Client})
	require.Empty(t, all.Ops[0].Uses)
}

// TestUndecidedTransactions says what made them hard to decide: here that nobody knows what became of most of them.
func TestUndecidedTransactions(t *testing.T) {
	var ops strings.Builder
	for i := range 24 {
		fmt.Fprintf(&ops, "{:type :invoke, :process %d, :f :txn, :value [[:w :x 1] [:w :y %d]]}\n", i, i)
	}
	ops.WriteString("{:type :invoke, :process 99, :f :txn, :value [[:r :x nil] [:r :y nil]]} {:type :ok, :process 99, :f :txn, :value [[:r :x 1] [:r :y 77]]}")
	h, m, err := jepsen.Read(strings.NewReader("["+ops.String()+"]"), jepsen.EDN, jepsen.Options{})
	require.NoError(t, err)
	r := CheckSome(linear.WithMemory(context.Background(), 1<<20), h, m.Properties)[0]
	require.Equal(t, Unknown, r.Verdict)
	require.Equal(t, "the transactions: the search through 25 operations grew beyond 1 MiB: "+
		"24 operations may have happened or not: have fewer of them time out, or give it more memory", r.Why)
}

// convicts reports whether the ops that a verdict names are illegal by themselves.
func convicts(t *testing.T, h *history.History, m jepsen.Model, r Result) {
	t.Helper()
	var ops []history.Op
	for i := range h.Ops {
		at := i
		if h.Ops[i].Type == history.Invoke && h.Other(i) >= 0 {
			at = h.Other(i)
		}
		if h.Ops[i].Process < 0 || slices.Contains(r.Ops, h.Ops[at].Index) || slices.Contains(r.Ops, h.Ops[i].Index) {
			ops = append(ops, h.Ops[i])
		}
	}
	part, err := history.New(ops)
	require.NoError(t, err)
	require.Equal(t, Invalid, CheckSome(context.Background(), part, m.Properties)[0].Verdict, "the evidence alone: %v: %s", r.Ops, r.Why)
}

// TestWritesOfAStoreAsTheyAreDrawn have no order where one that came to a higher revision was done before the other can begin.
func TestWritesOfAStoreAsTheyAreDrawn(t *testing.T) {
	a, b := &object{key: "a"}, &object{key: "b"}
	for _, c := range []struct {
		writes []*write
		legal  bool
	}{
		{[]*write{{object: a, revision: 9, to: bound{at: 2}}, {object: b, revision: 5, from: bound{at: 3}, to: bound{at: 4}}}, false},
		{[]*write{{object: a, revision: 9, to: bound{at: 3}}, {object: b, revision: 5, from: bound{at: 3}, to: bound{at: 4}}}, true},
		{[]*write{{object: a, revision: 5, to: bound{at: 2}}, {object: b, revision: 9, from: bound{at: 3}, to: bound{at: 4}}}, true},
		{[]*write{{object: a, revision: 5, from: bound{at: 1}, to: bound{at: 4}}, {object: b, revision: 5, from: bound{at: 1}, to: bound{at: 4}}}, false},
	} {
		require.Equal(t, c.legal, porcupine.CheckOperations(storeModel, drawn(c.writes...)))
	}
}

// TestRevisionsOfAStoreAgainstPorcupine decides random histories of a store as a whole: one state for all registers.
func TestRevisionsOfAStoreAgainstPorcupine(t *testing.T) {
	type state struct {
		revision uint64
		held     [2]struct {
			value    int32
			revision uint64
		}
	}
	type input struct {
		key int
		op  *linear.Op
	}
	model := porcupine.Model{
		Init: func() any { return state{} },
		Step: func(s, in, _ any) (bool, any) {
			next, u := s.(state), in.(input)
			if u.op.Kind != linear.Get {
				revision := cmp.Or(u.op.Revision, next.revision+1) // one that nobody tells may be any: the next leaves most room
				legal := revision > next.revision && (u.op.Kind == linear.Put || next.held[u.key].value == u.op.Old)
				next.revision = revision
				next.held[u.key].value, next.held[u.key].revision = u.op.Value, revision
				return legal, next
			}
			return next.held[u.key].value == u.op.Value && (u.op.Revision == 0 || next.held[u.key].revision == u.op.Revision), next
		},
	}
	verdicts := map[bool]int{}
	for seed := range uint64(12000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var ops []history.Op
		times := r.Perm(200)
		clock, values := 0, 0
		var held [2]history.Register
		held[0].Key, held[1].Key = "a", "b"
		for i := range 3 + r.IntN(6) {
			clock += 1 + r.IntN([]int{6, 2, 1}[seed%3]) // with and without room for those that tell none
			k := r.IntN(2)
			reg, f := held[k], history.Get
			if r.IntN(2) == 0 || reg.Revision == 0 {
				values++
				f = history.Put
				old := ""
				if seed%4 >= 2 && r.IntN(2) == 0 && reg.Revision > 0 {
					if f, old = history.CAS, reg.Value; r.IntN(12) == 0 {
						old = fmt.Sprint(r.IntN(values))
					}
				}
				held[k].Value, held[k].Revision = fmt.Sprint(values), uint64(clock)
				reg = held[k]
				reg.Old = old
			}
			if r.IntN(8) == 0 {
				reg.Revision = max(1, reg.Revision+uint64(r.IntN(12))-uint64(r.IntN(int(min(4, reg.Revision)))))
			}
			at := time.Duration(clock * 10)
			call, back := at-time.Duration(r.IntN(60)), at+time.Duration(r.IntN(60))
			if seed%2 == 0 { // many of them at the same time
				call, back = at-time.Duration(10*r.IntN(7)), at+time.Duration(10*r.IntN(7))
				times[2*i], times[2*i+1] = 0, -500
			}
			told, outcome := reg, history.OK
			switch {
			case f != history.Get && r.IntN(3) == 0:
				outcome = history.Info
			case f != history.Get && r.IntN(2) == 0, f == history.Get && seed%8 >= 6 && r.IntN(2) == 0:
				told.Revision = 0
			}
			ops = append(ops,
				history.Op{Time: max(call, 0)*1000 + time.Duration(times[2*i]), Process: history.Process(i), Type: history.Invoke, F: f, Reg: &told},
				history.Op{Time: back*1000 + 500 + time.Duration(times[2*i+1]), Process: history.Process(i), Type: outcome, F: f, Reg: &told})
		}
		slices.SortStableFunc(ops, func(a, b history.Op) int { return cmp.Compare(a.Time, b.Time) })
		setup := &history.Setup{Model: "revisioned-store", OneCount: true}
		ops = slices.Concat([]history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: setup}}, ops,
			[]history.Op{{Time: time.Hour, Process: history.Harness, Type: history.OK, F: history.End}})
		for i := range ops {
			ops[i].Index = i
		}
		h, err := history.New(ops)
		require.NoError(t, err)
		var question, perhaps []porcupine.Operation
		for k, o := range objects(h) {
			read := map[int32]uint64{}
			for _, u := range o.Ops {
				if u.Kind == linear.Get && u.Revision > 0 {
					read[u.Value] = u.Revision
				}
			}
			for i := range o.Ops {
				told := o.Ops[i]
				if !told.Sure() || told.Revision == 0 {
					told.Revision = read[told.Value] // each value is written once
				}
				asked := porcupine.Operation{ClientId: len(question) + len(perhaps), Input: input{k, &told}, Call: int64(told.Call), Return: int64(told.Return)}
				if told.Sure() {
					question = append(question, asked)
				} else {
					perhaps = append(perhaps, asked)
				}
			}
		}
		want := false
		for those := 0; those < 1<<len(perhaps) && !want; those++ { // which of those that may have happened did
			all := slices.Clone(question)
			for i, op := range perhaps {
				if those>>i&1 == 1 {
					all = append(all, op)
				}
			}
			want = porcupine.CheckOperations(model, all)
		}
		got := CheckSome(context.Background(), h, []string{"linearizable"})[0]
		verdicts[want]++
		require.Equal(t, want, got.Verdict != Invalid, "seed %d: %s", seed, got.Why)
		if strings.Contains(got.Why, "revision") && !strings.Contains(got.Why, "no order") {
			m, err := jepsen.FindModel("revisioned-store")
			require.NoError(t, err)
			convicts(t, h, m, got)
		}
	}
	require.Greater(t, verdicts[true], 500)
	require.Greater(t, verdicts[false], 500)
}

// TestATermThatIsNilIsNotTold tells a term that was left open from one that fell to 0.
func TestATermThatIsNilIsNotTold(t *testing.T) {
	const text = `[{:type :invoke, :f :who, :process 0, :node "n1"} {:type :ok, :f :who, :value ["n2" 3], :process 0, :node "n1"}
		{:type :invoke, :f :who, :process 0, :node "n1"} {:type :ok, :f :who, :value %s, :process 0, :node "n1"}
		{:type :invoke, :f :who, :process 0, :node "n1"} {:type :ok, :f :who, :value ["n2" 3], :process 0, :node "n1"}
		{:type :invoke, :f :who, :process 1, :node "n2"} {:type :ok, :f :who, :value ["n2" 3], :process 1, :node "n2"}]`
	for value, want := range map[string]Verdict{
		`["n2" nil]`: Valid, `{:role :follower, :leader "n2"}`: Valid, `["n1" nil]`: Valid, `["n2" 0]`: Invalid, `{:role :candidate, :term 0}`: Invalid,
	} {
		h, m, err := jepsen.Read(strings.NewReader(fmt.Sprintf(text, value)), jepsen.EDN, jepsen.Options{Model: "leader"})
		require.NoError(t, err)
		for _, r := range CheckSome(t.Context(), h, m.Properties) {
			if r.Property == "monotonic-term" {
				require.Equal(t, want, r.Verdict, "%s: %s", value, r.Why)
				require.Equal(t, want == Invalid, strings.HasSuffix(r.Why, "later term 0; if 0 is no term where it comes from, have the history say nil"), r.Why)
			}
		}
	}
}

func TestALeaderOfOthersMayHaveAnotherName(t *testing.T) {
	const text = `[{:type :invoke, :f :who, :process 0, :node "n1"} {:type :ok, :f :who, :value {:role :leader, :term 3}, :process 0, :node "n1"}
		{:type :invoke, :f :who, :process 1, :node "n2"} {:type :ok, :f :who, :value [%q 3], :process 1, :node "n2"}]`
	for leader, want := range map[string]Verdict{"http://10.0.0.1:2379": Unknown, "n2": Invalid, "n3": Invalid, "3": Unknown, "n1": Valid} {
		h, m, err := jepsen.Read(strings.NewReader(fmt.Sprintf(text, leader)), jepsen.EDN, jepsen.Options{Model: "leader"})
		require.NoError(t, err)
		r := CheckSome(context.Background(), h, []string{"agreement"})[0]
		require.Contains(t, m.Properties, r.Property)
		require.Equal(t, want, r.Verdict, "%s: %s", leader, r.Why)
		if leader[0] == 'h' {
			require.Equal(t, "n1 named n1 leader and n2 named http://10.0.0.1:2379, and no node that answered has a name like http://10.0.0.1:2379, "+
				"which may be another name of one: call each node by one name", r.Why)
		}
	}
}

// So it is where a history of Recount's does not say who the nodes are.
func TestALeaderOfNobodyKnowsWhichNodesMayHaveAnotherName(t *testing.T) {
	const text = `{"index":0,"time":1,"process":1,"type":"invoke","f":"observe","node":"node-1"}
{"index":1,"time":2,"process":1,"type":"ok","f":"observe","node":"node-1","value":{"role":"leader","term":3}}
{"index":2,"time":3,"process":2,"type":"invoke","f":"observe","node":"node-2"}
{"index":3,"time":4,"process":2,"type":"ok","f":"observe","node":"node-2","value":{"role":"follower","term":3,"leader":%q}}
`
	for leader, want := range map[string]Verdict{"10.0.0.1:2379": Unknown, "1": Unknown, "node-12": Invalid} {
		h, err := history.Parse(strings.NewReader(fmt.Sprintf(text, leader)))
		require.NoError(t, err)
		r := CheckSome(context.Background(), h, []string{"agreement"})[0]
		require.Equal(t, want, r.Verdict, "%s: %s", leader, r.Why)
	}
}
