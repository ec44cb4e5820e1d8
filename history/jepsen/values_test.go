package jepsen

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/history/edn"
	"recount/internal/hint"
)

// values returns what the ops of clients tell of values.
func values(h *history.History) (all []string) {
	for i := range h.Ops {
		if r := h.Ops[i].Reg; r != nil {
			all = append(all, r.Value)
		}
	}
	return all
}

func TestValuesAreComparedAsClojureComparesThem(t *testing.T) {
	for a, b := range map[string]string{
		"5": "5N", "[1 2]": "(1 2)", "{:a 1, :b 2}": "{:b 2 :a 1N}", "#{1 2}": "#{2 1}", "0x10": "16", "1.0": "1e0", "4/2": "2",
		`#inst "2020-01-01"`: `#inst "2020-01-01T00:00:00Z"`, "^{:a 1} [1]": "[1]",
	} {
		h, _ := read(t, "[{:type :invoke, :process 0, :f :write, :value "+a+"} {:type :ok, :process 0, :f :write, :value "+b+"}]", Options{})
		all := values(h)
		require.Equal(t, all[0], all[1], "%s and %s", a, b)
		h, _ = read(t, "0\t:invoke\t:write\t"+a+"\n0\t:ok\t:write\t"+b+"\n", Options{})
		all = values(h)
		require.Equal(t, all[0], all[1], "%s and %s, in a log", a, b)
	}
	for a, b := range map[string]string{"1": "1.0", "#r{:a 1}": "{:a 1}", "[1 2]": "[2 1]", `"a"`: ":a", "nil": `""`} {
		h, _ := read(t, "[{:type :invoke, :process 0, :f :write, :value "+a+"} {:type :ok, :process 0, :f :write, :value "+a+
			"} {:type :invoke, :process 0, :f :write, :value "+b+"}]", Options{})
		all := values(h)
		require.NotEqual(t, all[0], all[2], "%s and %s", a, b)
	}
	_, _, err := Read(strings.NewReader("{:type :invoke, :process 0, :f :write, :value [1 ##NaN]}"), EDN, Options{})
	require.ErrorContains(t, err, "line 1, column 1: value [1 ##NaN]: ##NaN is equal to nothing, not even to itself")
}

func TestWhatAnOKTellsCounts(t *testing.T) {
	h, _ := read(t, `[{:type :invoke, :process 0, :f :write, :value nil} {:type :ok, :process 0, :f :write, :value 5}
		{:type :invoke, :process 0, :f :cas, :value [5 6]} {:type :ok, :process 0, :f :cas, :value [5 7]}
		{:type :invoke, :process 0, :f :write, :value 8} {:type :ok, :process 0, :f :write}
		{:type :invoke, :process 0, :f :cas, :value [8 9]} {:type :ok, :process 0, :f :cas, :value true}]`, Options{})
	require.Equal(t, []string{"", "5", "6", "7", "8", "8", "9", "9"}, values(h))
	require.Equal(t, "5", h.Ops[4].Reg.Old)

	h, _ = read(t, `[{:type :invoke, :process 0, :f :write, :value nil} {:type :info, :process 0, :f :write, :value 5}
		{:type :invoke, :process 1, :f :write, :value nil} {:type :ok, :process 1, :f :write, :value 6}]`, Options{})
	require.Equal(t, []string{"5", "", "6"}, values(h), "an info may tell it, too")

	for _, silent := range []string{
		"{:type :invoke, :process 0, :f :write, :value nil} {:type :info, :process 0, :f :write, :value nil}",
		"{:type :invoke, :process 0, :f :write, :value nil}",
	} {
		_, _, err := Read(strings.NewReader("[\n"+silent+"\n{:type :invoke, :process 1, :f :write} {:type :ok, :process 1, :f :write, :value 6}]"), EDN, Options{})
		require.ErrorContains(t, err, "line 2, column 1: a write of unknown outcome that never told what it wrote", silent)
		require.NotEmpty(t, hint.Of(err))
		_, _, err = Read(strings.NewReader("["+silent+"\n{:type :invoke, :process 1, :f :write} {:type :ok, :process 1, :f :write, :value nil}]"), EDN, Options{})
		require.NoError(t, err, "where none tells afterwards, it wrote nil: %s", silent)
	}
}

func TestWhoeverActsIsUnderstoodOrRefused(t *testing.T) {
	for _, process := range []string{"7", "7N", "7.0", "7M", "7.00M", "14/2", "0x7"} {
		h, _ := read(t, "[{:type :invoke, :process "+process+", :f :write, :value 1} {:type :ok, :process 7, :f :write, :value 1}]", Options{})
		require.Equal(t, history.Process(7), h.Ops[1].Process, process)
		h, _ = read(t, process+" :invoke :write 1\n7 :ok :write 1\n", Options{})
		require.Equal(t, history.Process(7), h.Ops[1].Process, process)
	}
	for _, process := range []string{`"1"`, ":other", "[1]", "#{}", "1.5", "nil", "true", "a", "-1", "99999999999", "99999999999999999999N", "1e300", `\1`} {
		for _, text := range []string{
			"[{:type :invoke, :process 0, :f :write, :value 1}\n{:process " + process + " :type :ok :f :read :value 9}]",
			"INFO jepsen.util - 0 :invoke :write 1\nINFO jepsen.util - " + process + " :ok :read 9\n",
			"INFO [2017-03-30 15:28:17,427] jepsen worker 2 - jepsen.util 0\t:invoke :read nil\nINFO [2017-03-30 15:28:17,427] jepsen worker 2 - jepsen.util " + process + "\t:ok :read nil\n",
			"0\t:invoke\t:write\t1\n" + process + "\t:ok\t:read\t9\n",
		} {
			_, _, err := Read(strings.NewReader(text), Sniff([]byte(text)), Options{})
			require.ErrorContains(t, err, "line 2, column ", text)
			require.ErrorContains(t, err, "rocess", text)
		}
	}
}

func TestNoValueMakesTheReaderPanic(t *testing.T) {
	for _, v := range []string{"[1]", "{[1] 2}", "#{[1]}", "#a [1]", "nil", `"x"`, "1.5", "##NaN", "()", `\a`} {
		for _, key := range []string{":type", ":process", ":f", ":value", ":time", ":index", ":node", ":error", ":key", "[1]", "{}"} {
			for _, o := range []Options{{}, {Independent: true}, {Model: "fenced"}, {Model: "leader"}, {Model: "owned-mutex"}, {Model: "multi-register"},
				{Model: "revisioned-store"}, {Model: "compare-exchange-register"}} {
				for _, f := range []string{":read", ":write", ":cas", ":acquire", ":txn"} {
					op := "{:type %s, :process 0, :f " + f + ", :value [1 2], :time 1, " + key + " " + v + "}"
					if strings.Contains(":type:process:f:value:time", key) {
						op = strings.Replace("{:type %s, :process 0, :f "+f+", :value [1 2], :time 1}", key+" ", key+" "+v+" #_", 1)
						if key == ":type" {
							op = "{:type " + v + ", :process 0, :f " + f + "}"
						}
					}
					text := op
					if strings.Contains(op, "%s") {
						text = fmt.Sprintf(op, ":invoke") + fmt.Sprintf(op, ":ok") + fmt.Sprintf(op, ":invoke") + fmt.Sprintf(op, ":fail")
					}
					require.NotPanics(t, func() {
						if h, _, err := Read(strings.NewReader("["+text+"]"), EDN, o); err == nil {
							require.NoError(t, Write(io.Discard, h))
						}
					}, text)
				}
			}
		}
	}
}

func TestOpsInTheLogsOfAllLoggers(t *testing.T) {
	for _, before := range []string{
		"INFO  jepsen.util - ", "INFO  jepsen.print - ", "INFO  jepsen.core - ", "2020-01-01 12:00:00,123{GMT}\tINFO\t[jepsen worker 2] jepsen.util: ",
		"INFO [2017-03-30 15:28:17,427] jepsen worker 2 - jepsen.util ", "jepsen worker 2 - jepsen.util ", "2026-01-01 00:00:00,000{GMT}\tINFO\t[jepsen worker 2] jepsen.print: ", "",
	} {
		text := "INFO jepsen.core - Running test\n" + before + "2\t:invoke\t:read\tnil\n\n" + before + ":nemesis\t:info\t:start\tnil\nWARN jepsen.core - all is well: :ok\n" +
			before + "2\t:fail\t:read\tnil\t[:error #<Foo 3> bad]\n" + before + "2\t:invoke\t:write\t3\n"
		h, _ := read(t, text, Options{})
		require.Equal(t, []string{"0 1ms 2 invoke get {Key: Value: Old: Revision:0}", "1 2ms nemesis invoke inject 1 start", "2 3ms 2 fail get", "3 4ms 2 invoke put {Key: Value:3 Old: Revision:0}"}, tell(h), text)
		require.Contains(t, h.Ops[3].Error, "#<Foo 3>", "what went wrong is told in any notation")
	}
	for _, before := range []string{"INFO  jepsen.util - ", "INFO [2017-03-30] jepsen worker 2 - jepsen.print ", "INFO my.test: #jepsen.history.Op"} {
		h, _ := read(t, before+"{:process 2, :type :invoke, :f :write, :value {:a 1}}\n"+before+"{:type :ok :process 2N :f :write}\n", Options{})
		require.Equal(t, []string{"0 1ms 2 invoke put {Key: Value:{:a 1} Old: Revision:0}", "1 2ms 2 ok put {Key: Value:{:a 1} Old: Revision:0}"}, tell(h), before)
	}
	for _, odd := range []string{
		"INFO jepsen.util - zero :ok write 1", "INFO jepsen.util - {:type :ok, :f :read}", "INFO jepsen.core - {:type :ok, :f :read, :process 0} {:a 1}", "INFO jepsen.util - ; :ok",
		"INFO jepsen.util - 2 :okay :read nil", "INFO jepsen.print - 2 :read :ok nil", "INFO jepsen.other - x :ok :read 1", "7 :ok read 1", "INFO jepsen.core - [1] :invoke :read nil",
		"2 :invoke", "INFO jepsen.util - 2 :ok :read 1x",
	} {
		_, _, err := Read(strings.NewReader("INFO jepsen.util - 0 :invoke :read nil\n"+odd+"\n"), Log, Options{})
		require.ErrorContains(t, err, "line 2, column ", odd)
		require.NotContains(t, err.Error(), "no line of Jepsen's log", "%s looks like an op", odd)
	}
}

func TestTheEndOfAHistory(t *testing.T) {
	const open = "{:type :invoke, :process 0, :f :write, :value 1}\n"
	const whole = open + "{:type :ok, :process 0, :f :write, :value 1}"
	h, _ := read(t, whole, Options{})
	require.True(t, h.Complete(), "without a newline")
	h, _ = read(t, "["+open+"]", Options{})
	require.True(t, h.Complete(), "what closes it says that it is complete")
	h, _ = read(t, open, Options{})
	require.False(t, h.Complete())
	why, doubtful := h.Doubtful()
	require.True(t, doubtful)
	require.Contains(t, why, "1 of its operations never ended")

	for _, text := range []string{"[" + whole, whole[:len(whole)-3], "[" + whole + " ", "INFO jepsen.util - 0 :invoke :write 1\nINFO jepsen.util - 0 :ok :write 1"} {
		_, _, err := Read(strings.NewReader(text), Sniff([]byte(text)), Options{})
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, text)
		h, _ := read(t, text, Options{Cut: true})
		require.False(t, h.Complete(), text)
		require.NotEmpty(t, values(h), "%s: what comes before is there", text)
		_, doubtful := h.Doubtful()
		require.False(t, doubtful, "it is surely cut")
	}
	h, _ = read(t, "INFO jepsen.util - 0 :invoke :write [1 2]\nINFO jepsen.util - 0 :ok :write [1 2]", Options{})
	require.True(t, h.Complete(), "nothing can have been cut off behind a bracket")

	for _, text := range []string{"\ufeff[" + whole + "]", strings.ReplaceAll(whole, "\n", "\r\n\r\n \n") + "\r\n", "\ufeffINFO jepsen.util - 0 :invoke :write 1\r\n\r\nINFO jepsen.util - 0 :ok :write 1\r\n", "\ufeff" + whole} {
		h, _ := read(t, text, Options{})
		require.Equal(t, []string{"1", "1"}, values(h), "%q", text)
	}
}

func TestInitialValues(t *testing.T) {
	for text, want := range map[string]string{
		"{:initial-value 5N}": "5", "{:initial [1]}": "[1]", "{:model #knossos.model.CASRegister{:value 0}}": "0",
		"#jepsen.Test{:model {:value :a}, :other 1}": ":a", "{:name 1}": "", "{:model #knossos.model.MultiRegister{:x 0}}": "{:x 0}", "[]": "", "nil": "",
	} {
		v, err := InitialOf(strings.NewReader(text))
		require.NoError(t, err, text)
		got, err := textOf(v)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	_, err := InitialOf(strings.NewReader("{:a"))
	require.Error(t, err)
	for text, want := range map[string]string{"1 2": "more than one value", "": "EOF", "##NaN": "equal to nothing", "[1": "the text ends"} {
		_, err := ParseInitial(strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
	const op = "[{:type :invoke, :process 0, :f :%s, :value %s}]"
	h, _ := read(t, fmt.Sprintf(op, "read", "nil"), Options{Initial: edn.Number("0N")})
	require.Equal(t, "0", h.Setup().Held(""))
	h, _ = read(t, fmt.Sprintf(op, "txn", "[[:r :x nil]]"), Options{Initial: edn.Map{{Key: edn.Keyword("x"), Value: int64(3)}}})
	require.Equal(t, []string{"3", ""}, []string{h.Setup().Held(":x"), h.Setup().Held(":y")})
	_, _, err = Read(strings.NewReader(fmt.Sprintf(op, "acquire", "nil")), EDN, Options{Initial: int64(1)})
	require.ErrorContains(t, err, "initial value 1: the model mutex has no registers")
}

func TestTransactionsOfOthers(t *testing.T) {
	h, m := read(t, `[{:type :invoke, :process 0, :f :txn, :value [[:r :x nil] [:write 2 (1 2)]]} {:type :ok, :process 0, :f :txn, :value [[:r :x nil] [:write 2 [1 2N]]]}
		{:type :invoke, :process 1, :f :txn, :value ([:read :x nil])} {:type :ok, :process 1, :f :txn, :value ([:read :x 7])}]`, Options{})
	require.Equal(t, "multi-register", m.Name)
	require.Equal(t, []history.Use{{F: history.Get, Key: ":x"}, {F: history.Put, Key: "2", Value: "[1 2]"}}, h.Ops[1].Txn().Uses)
	require.Equal(t, []history.Use{{F: history.Put, Key: "2", Value: "[1 2]"}}, h.Ops[2].Txn().Uses, "a read of nil tells nothing")
	require.Equal(t, []history.Use{{F: history.Get, Key: ":x", Value: "7"}}, h.Ops[4].Txn().Uses)
	for value, want := range map[string]string{
		"nil": "want [[:read key value]", "[1]": "want [[:read key value]", "[[:r 1]]": "want [[:read key value]", "[[:add 1 2]]": ":add: want :read or :write",
		"[[:append 1 2]]": "lists that transactions append to are not judged here", "[[[] 1 2]]": "[]: want :read or :write", "[[:w ##NaN 1]]": "equal to nothing",
	} {
		_, _, err := Read(strings.NewReader("[{:type :invoke, :process 0, :f :txn, :value "+value+"}]"), EDN, Options{})
		require.ErrorContains(t, err, want, value)
	}
}
