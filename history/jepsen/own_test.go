package jepsen

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recount/history"
	"recount/history/edn"
	_ "recount/internal/testseed" // the same cases each time
)

// alone are the ops that stand by themselves; pairs are those that are begun and ended.
var (
	alone = []history.F{history.Settle, history.Compare, history.Stall, history.Exit, history.Alarm, history.ReadClock, history.Announce, history.Granted, history.Apply}
	pairs = []history.F{
		history.Observe, history.Write, history.Read, history.Get, history.Put, history.CAS, history.Acquire, history.Release, history.Txns, history.Resign,
		history.Inject, history.Change, history.Heal,
	}
)

// anyOp is an op of a kind with anything in it that such an op may have.
func anyOp(t *rapid.T, f history.F, process history.Process, kind history.Type) history.Op {
	word := func(what string) string {
		return rapid.OneOf(
			rapid.SampledFrom([]string{"", "1", "-3", "1N", "1.0", "a", ":b", "a b", "[1 2]", "(1 2)", "ü\"\\", "nil", "true", "007", "{", "##NaN", "#a 1", "\x00", "\ufeff", "a/b", "/"}),
			rapid.Map(rapid.String(), func(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\ufffd", "?") }),
		).Draw(t, what)
	}
	number := func(what string) uint64 {
		return rapid.SampledFrom([]uint64{0, 1, 7, math.MaxInt64, math.MaxUint64}).Draw(t, what)
	}
	length := func(what string) time.Duration {
		return time.Duration(rapid.SampledFrom([]int64{0, 1, -1, 1e9, math.MaxInt64, math.MinInt64}).Draw(t, what))
	}
	some := func(what string) bool { return rapid.Bool().Draw(t, what) }
	op := history.Op{Process: process, Type: kind, F: f, Node: cmp.Or(word("node"), "n1"), Error: word("error")}
	switch f {
	case history.Observe, history.Announce:
		if f == history.Announce || kind == history.OK {
			op.View = history.View{Role: history.Role(rapid.IntRange(0, int(history.Server)).Draw(t, "role")), Term: number("term"), Leader: word("leader"), Tenure: number("tenure"), Torn: some("torn")}
		}
	case history.Write, history.Stall:
		op.Access = history.Access{Token: number("token"), Value: int64(length("value"))}
		if f == history.Stall {
			op.Access = history.Access{Value: int64(rapid.IntRange(0, math.MaxInt32).Draw(t, "stall"))}
		}
	case history.Read:
		if kind == history.OK {
			op.Access = history.Access{Token: number("token"), Value: int64(length("value"))}
		}
	case history.Granted:
		op.Vote = history.Vote{Term: number("term"), For: cmp.Or(word("for"), "n1")}
	case history.ReadClock:
		op.Reading = history.Reading{Wall: length("wall"), Monotonic: length("monotonic")}
	case history.Get, history.Put, history.CAS, history.Acquire, history.Release:
		if must := kind == history.OK && f == history.Get || kind <= history.OK && (f == history.Put || f == history.CAS); must || some("register") {
			op.Reg = &history.Register{Key: word("key"), Value: word("value"), Old: word("old"), Revision: number("revision")}
		}
	case history.Txns:
		if kind == history.OK || some("uses") {
			op.Value = &history.Txn{Uses: []history.Use{}}
			for range rapid.IntRange(0, 2).Draw(t, "uses") {
				op.Txn().Uses = append(op.Txn().Uses, history.Use{F: rapid.SampledFrom([]history.F{history.Get, history.Put}).Draw(t, "f"), Key: word("key"), Value: word("value")})
			}
		}
	case history.Apply:
		if some("update") {
			op.Value = &history.Update{Term: number("term"), Counter: number("counter"), From: word("from")}
		}
		op.Value = &history.Update{Counter: number("counter")}
	case history.Exit, history.Inject, history.Change, history.Heal:
		if f == history.Exit && !some("trapped") {
			break
		}
		from := cmp.Or(word("from"), "n1")
		delay := rapid.SampledFrom([]time.Duration{0, 1, time.Second, math.MaxInt64}).Draw(t, "delay")
		op.Fault = &history.Fault{
			ID: 1, Name: word("name"), Params: map[string]string{word("param"): word("is")}, Nodes: []string{word("of")},
			Changes: history.Changes{Links: []history.Link{{From: from, To: from + cmp.Or(word("to"), "2"), LinkState: history.LinkState{
				Cut: some("cut"), Loss: rapid.SampledFrom([]float64{0, 0.25, 1, 1e-9}).Draw(t, "loss"), Delay: delay,
			}}}},
		}
		if f == history.Exit {
			state := rapid.SampledFrom([]history.ProcState{history.Down, history.Stopped, history.Crashed}).Draw(t, "ended")
			op.Fault.Procs = []history.Proc{{Node: op.Node, State: state}}
		}
	}
	return op
}

// endsAs has an op end what was begun: at that node, and of what was asked for.
func endsAs(op, begun *history.Op) {
	op.Node = begun.Node
	if op.F == history.Write {
		op.Access = begun.Access
	}
	if op.Reg != nil && begun.Reg != nil {
		read, revision := op.Reg.Value, op.Reg.Revision
		*op.Reg = *begun.Reg
		if op.Reg.Revision = revision; op.F == history.Get {
			op.Reg.Value = read
		}
	}
	if op.Txn() != nil && begun.Txn() != nil {
		op.Value = &history.Txn{Uses: slices.Clone(begun.Txn().Uses)}
	}
}

// anyRun is a history of all kinds of ops.
func anyRun(t *rapid.T) *history.History {
	setup := &history.Setup{Version: "1", Target: "raft", Options: map[string]string{"two words": "x", "": ":"}, Seed: rapid.Uint64().Draw(t, "seed"), Nodes: []string{"n1"}}
	ops := []history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: setup}}
	types := []history.Type{history.OK, history.Fail, history.Info}
	for _, f := range alone {
		process := rapid.SampledFrom([]history.Process{history.Harness, 0, 9}).Draw(t, "process")
		if f == history.Compare {
			process = history.Harness // nobody else does
		}
		of := []history.Type{history.OK}
		switch f {
		case history.Compare:
			of = types
		case history.Stall, history.Exit, history.Alarm, history.Endless:
			of = []history.Type{history.OK, history.Info}
		}
		ops = append(ops, anyOp(t, f, process, rapid.SampledFrom(of).Draw(t, "type")))
	}
	for i, f := range pairs {
		for k, end := range append(types, 0) {
			process := history.Process(100 + 4*i + k)
			if slices.Contains(pairs[len(pairs)-3:], f) {
				if process = history.Nemesis; end == 0 && f != pairs[len(pairs)-1] {
					continue // it does one thing at a time: only its last may be under way for good
				}
			}
			if ops = append(ops, anyOp(t, f, process, history.Invoke)); end != 0 {
				begun := ops[len(ops)-1]
				ops = append(ops, anyOp(t, f, process, end))
				endsAs(&ops[len(ops)-1], &begun)
			}
		}
	}
	ops = append(ops, history.Op{Process: history.Harness, Type: rapid.SampledFrom([]history.Type{history.OK, history.Info}).Draw(t, "end"), F: history.End})
	for i := range ops {
		ops[i].Index, ops[i].Time = i, time.Duration(i)*time.Millisecond
		if n := ops[i].Node; n != "" && !slices.Contains(setup.Nodes, n) {
			setup.Nodes = append(setup.Nodes, n)
		}
	}
	h, err := history.New(ops)
	require.NoError(t, err)
	return h
}

// lines is a history as Recount writes it.
func lines(h *history.History) string {
	var b []byte
	for i := range h.Ops {
		b = append(h.Ops[i].AppendJSON(b), '\n')
	}
	return string(b)
}

func TestEveryOpSurvivesTheWayToJepsenAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := anyRun(t)
		first, err := history.Parse(strings.NewReader(lines(h)))
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, Write(&b, h))
		again, m, err := Read(bytes.NewReader(b.Bytes()), Sniff(b.Bytes()), Options{})
		require.NoError(t, err, b.String())
		require.Empty(t, m.Name)
		require.Equal(t, lines(h), lines(first), "in lines of JSON")
		require.Equal(t, lines(h), lines(again), "in EDN: %s", b.String())
	})
}

func TestAHistoryWithoutItsBeginningSurvivesTheWayBack(t *testing.T) {
	h, err := history.New([]history.Op{
		{Process: 1, Type: history.Invoke, F: history.Observe, Node: "n2"},
		{Index: 1, Time: 1, Process: 1, Type: history.OK, F: history.Observe, Node: "n2", View: history.View{Role: history.Leader, Term: 1}},
	})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, Write(&b, h))
	again, _, err := Read(&b, EDN, Options{})
	require.NoError(t, err)
	require.Equal(t, lines(h), lines(again))
}

// TestHistoriesOfOthersSurviveTheWayBack keeps what a history was about, too.
func TestHistoriesOfOthersSurviveTheWayBack(t *testing.T) {
	for model, text := range map[string]string{
		"cas-register":        `[{:type :invoke, :process 0, :f :write, :value {:b 2 :a (1)}} {:type :ok, :process 0, :f :write, :value {:b 2 :a [1]}}]`,
		"revisioned-store":    `[{:type :invoke, :process 0, :f :write, :value [:x [nil 2]]} {:type :ok, :process 0, :f :write, :value [:x [4 2]]}]`,
		"multi-register":      `[{:type :invoke, :process 0, :f :txn, :value [[:r :x nil]]} {:type :ok, :process 0, :f :txn, :value [[:r :x "a"]]}]`,
		"owned-mutex":         `[{:type :invoke, :process 0, :f :acquire, :value {:client "a"}} {:type :ok, :process 0, :f :acquire}]`,
		"leader":              `[{:type :invoke, :process 0, :f :who, :node "n1"} {:type :ok, :process 0, :f :who, :value ["n1" 3], :node "n1"}]`,
		"fenced":              `{:type :invoke, :process 0, :f :write, :value [1 2]}`,
		"register":            "0 :invoke :write \"a\"\n:nemesis :info :start nil\n",
		"mutex":               `[{:type :invoke, :process 0, :f :acquire} {:type :info, :process 0, :f :acquire, :error [:timeout]}]`,
		"revisioned-register": `[{:type :info, :process :nemesis, :f :kill, :value {:n1 [1 2]}}]`,
	} {
		o := Options{Model: model}
		h, m := read(t, text, o)
		require.Equal(t, model, m.Name)
		var b bytes.Buffer
		require.NoError(t, Write(&b, h))
		again, m, err := Read(bytes.NewReader(b.Bytes()), Sniff(b.Bytes()), Options{})
		require.NoError(t, err, b.String())
		require.Equal(t, model, m.Name)
		require.Equal(t, lines(h), lines(again), b.String())
	}
}

// TestJepsenCanPairWhatIsWritten holds what Jepsen demands of a history: a map an op, clients' ops in pairs, and :info for
// all others.
func TestJepsenCanPairWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		require.NoError(t, Write(&b, anyRun(t)))
		v, err := edn.NewReader(&b).Next()
		require.NoError(t, err)
		open := map[any]any{}
		for i, op := range v.(edn.Vector) {
			get := func(key edn.Keyword) any { v, _ := op.(edn.Map).Get(key); return v }
			require.Equal(t, int64(i), get("index"))
			process, client := get("process").(int64)
			switch kind := get("type"); {
			case !client:
				require.Equal(t, edn.Keyword("info"), kind)
			case kind == edn.Keyword("invoke"):
				require.NotContains(t, open, process)
				open[process] = get("f")
			default:
				require.Equal(t, open[process], get("f"))
				delete(open, process)
			}
		}
	})
}
