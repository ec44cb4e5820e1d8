package jepsen

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/history/edn"
	"recount/internal/hint"
)

func read(t require.TestingT, text string, o Options) (*history.History, Model) {
	h, m, err := Read(strings.NewReader(text), Sniff([]byte(text)), o)
	require.NoError(t, err, text)
	return h, m
}

// tell writes the ops of clients and the nemesis shortly.
func tell(h *history.History) (lines []string) {
	for _, op := range h.Ops[1 : len(h.Ops)-1] {
		s := fmt.Sprintf("%d %v %v %v %s", op.Index, op.Time, op.Process, op.Type, op.F)
		switch {
		case op.Fault != nil:
			s += fmt.Sprintf(" %d %s", op.Fault.ID, op.Fault.Name)
		case op.Reg != nil:
			s += fmt.Sprintf(" %+v", *op.Reg)
		case op.F == history.Observe && op.Type == history.OK:
			s += fmt.Sprintf(" %s %v %d %s", op.Node, op.View.Role, op.View.Term, op.View.Leader)
		case op.F == history.Read || op.F == history.Write:
			s += fmt.Sprintf(" %d %d", op.Access.Token, op.Access.Value)
		}
		lines = append(lines, s)
	}
	return lines
}

func TestARegisterOfJepsens(t *testing.T) {
	h, m := read(t, `[{:type :invoke, :f :write, :value 1, :process 0, :time 10, :index 100, :extra "left alone"}
 {:type :info, :f :start-partition, :value nil, :process :nemesis, :time 11, :index 101}
 {:type :info, :f :start-partition, :value {"n1" #{"n2"}}, :process :nemesis, :time 12, :index 102}
 #jepsen.history.Op {:type :ok, :f :write, :value 1, :process 0, :time 12, :index 103}
 {:type :invoke, :f :cas, :value [1 :b], :process 1, :time 20, :index 104}
 {:type :info, :f :cas, :value [1 :b], :process 1, :time 21, :index 105, :error :timeout}
 {:type :invoke, :f :read, :value nil, :process 1, :time 22, :index 106}
 {:type :ok, :f :read, :value :b, :process 1, :time 23, :index 107}
 {:type :info, :f :stop-partition, :value nil, :process :nemesis, :time 30, :index 108}]`, Options{})
	require.Equal(t, "cas-register", m.Name)
	require.True(t, h.Complete())
	require.Equal(t, []string{
		"100 10ns 0 invoke put {Key: Value:1 Old: Revision:0}",
		"101 11ns nemesis invoke inject 1 start-partition",
		"102 12ns nemesis ok inject 1 start-partition",
		"103 13ns 0 ok put {Key: Value:1 Old: Revision:0}",
		"104 20ns 1 invoke cas {Key: Value::b Old:1 Revision:0}",
		"105 21ns 1 info cas",
		"106 22ns 1 invoke get {Key: Value: Old: Revision:0}",
		"107 23ns 1 ok get {Key: Value::b Old: Revision:0}",
		"108 30ns nemesis invoke heal 1 start-partition",
	}, tell(h), "later ops come later, be it by a nanosecond, for their order is what counts")
}

func TestALogOfOperations(t *testing.T) {
	h, m := read(t, "INFO  jepsen.util - 3\t:invoke\t:cas\t[1 2]\nINFO jepsen.util - 4 :invoke :read nil\n"+
		"INFO  jepsen.util - 3\t:info\t:cas\t:timed-out\nINFO jepsen.util - 4 :ok :read nil\n", Options{})
	require.Equal(t, "cas-register", m.Name)
	require.Equal(t, []string{
		"0 1ms 3 invoke cas {Key: Value:2 Old:1 Revision:0}",
		"1 2ms 4 invoke get {Key: Value: Old: Revision:0}",
		"2 3ms 3 info cas",
		"3 4ms 4 ok get {Key: Value: Old: Revision:0}",
	}, tell(h))
}

func TestWhatANilReadTells(t *testing.T) {
	h, _ := read(t, `{:type :invoke, :f :read, :process 0} {:type :ok, :f :read, :value nil, :process 0}`, Options{})
	require.Nil(t, h.Ops[2].Reg, "nothing, in Knossos's models")
	h, _ = read(t, "INFO jepsen.util - 0 :invoke :read nil\nINFO jepsen.util - 0 :ok :read nil\n", Options{})
	require.Equal(t, &history.Register{}, h.Ops[2].Reg, "that nothing is there, in logs")
}

func TestTheOtherModels(t *testing.T) {
	for _, c := range []struct {
		o    Options
		text string
		want []string
	}{
		{Options{Model: "revisioned-register", Independent: true}, `[{:type :invoke, :f :cas, :value [:k [nil [1 2]]], :process 0}
			{:type :ok, :f :cas, :value [:k [7 [1 2]]], :process 0}]`, []string{
			"0 1ms 0 invoke cas {Key::k Value:2 Old:1 Revision:0}", "1 2ms 0 ok cas {Key::k Value:2 Old:1 Revision:7}",
		}},
		{Options{Model: "mutex"}, `[{:type :invoke, :f :acquire, :process 0} {:type :fail, :f :acquire, :error :held, :process 0}]`, []string{
			"0 1ms 0 invoke acquire", "1 2ms 0 fail acquire",
		}},
		{Options{Model: "fenced"}, `[{:type :invoke, :f :write, :value [3 30], :process 0} {:type :ok, :f :write, :value [3 30], :process 0}
			{:type :invoke, :f :read, :process 0} {:type :ok, :f :read, :value [3 30], :process 0}
			{:type :invoke, :f :read, :process 1} {:type :ok, :f :read, :value nil, :process 1}]`, []string{
			"0 1ms 0 invoke write 3 30", "1 2ms 0 ok write 3 30", "2 3ms 0 invoke read 0 0", "3 4ms 0 ok read 3 30",
			"4 5ms 1 invoke read 0 0", "5 6ms 1 fail read 0 0",
		}},
		{Options{Model: "fenced"}, `[{:type :invoke, :f :acquire, :process 0} {:type :ok, :f :acquire, :value {:fence 9, :uid "x"}, :process 0}
			{:type :invoke, :f :release, :process 0} {:type :ok, :f :release, :process 0}
			{:type :invoke, :f :acquire, :process 0} {:type :fail, :f :acquire, :process 0}]`, []string{
			"0 1ms 0 invoke write 9 9", "1 2ms 0 ok write 9 9", "2 5ms 0 invoke read 0 0", "3 6ms 0 fail read 0 0",
		}},
		{Options{Model: "leader"}, `[{:type :invoke, :f :inspect, :process 0} {:type :ok, :f :inspect, :value {"role" "leader", "term" 4}, :process 0, :node "n2"}
			{:type :invoke, :f :inspect, :process 1, :node "n1"} {:type :ok, :f :inspect, :value ["n1" 5], :process 1}
			{:type :invoke, :f :inspect, :process 1, :node "n1"} {:type :info, :f :inspect, :process 1}]`, []string{
			"0 1ms 0 invoke observe", "1 2ms 0 ok observe n2 leader 4 ", "2 3ms 1 invoke observe", "3 4ms 1 ok observe n1 leader 5 n1",
			"4 5ms 1 invoke observe", "5 6ms 1 info observe",
		}},
		{Options{Model: "leader"}, `[{:type :invoke, :f :inspect, :process 0, :node "n2"} {:type :ok, :f :inspect, :value ["n1" 4], :process 0, :node "n2"}
			{:type :invoke, :f :inspect, :process 0, :node "n1"} {:type :ok, :f :inspect, :value ["n1" 4], :process 0, :node "n1"}
			{:type :invoke, :f :inspect, :process 1} {:type :ok, :f :inspect, :value {:node :n3, :role :candidate, :term 5}, :process 1}]`, []string{
			"0 1ms 0 invoke observe", "1 2ms 0 ok observe n2 follower 4 n1", "2 3ms 0 invoke observe", "3 4ms 0 ok observe n1 leader 4 n1",
			"4 5ms 1 invoke observe", "5 6ms 1 ok observe n3 candidate 5 ",
		}},
	} {
		h, m := read(t, c.text, c.o)
		require.Equal(t, c.o.Model, m.Name)
		require.Equal(t, c.want, tell(h), c.text)
	}
	for text, want := range map[string][]string{
		// Whose token it is is told by the value, or else by the process, but for one that may go on for another.
		`[{:type :invoke, :f :acquire, :process 0} {:type :ok, :f :acquire, :value 5, :process 0}
			{:type :invoke, :f :acquire, :process 1} {:type :ok, :f :acquire, :value {:fence 6, :client "c7"}, :process 1}
			{:type :invoke, :f :acquire, :process 0} {:type :info, :f :acquire, :process 0}
			{:type :invoke, :f :acquire, :process 2} {:type :ok, :f :acquire, :value 7, :process 2}
			{:type :invoke, :f :acquire, :process 1} {:type :ok, :f :acquire, :value 8, :process 1}]`: {
			"process 0", "process 0", "c7", "c7", "process 0", "process 0", "", "", "process 1", "process 1",
		},
		`[{:type :invoke, :f :acquire, :process 0, :node "n1"} {:type :ok, :f :acquire, :value 5, :process 0, :node "n1"}
			{:type :invoke, :f :acquire, :process 0, :node "n2"} {:type :ok, :f :acquire, :value 5, :process 0, :node "n2"}
			{:type :invoke, :f :acquire, :process 1, :node "n2"} {:type :ok, :f :acquire, :value 6, :process 1, :node "n2"}]`: {
			"process 0", "process 0", "process 0", "process 0", "process 1", "process 1",
		},
		`[{:type :invoke, :f :write, :value [5 1], :process 0, :node "n1"} {:type :ok, :f :write, :process 0, :node "n1"}
			{:type :invoke, :f :write, :value [5 2], :process 0, :node "n2"} {:type :ok, :f :write, :process 0, :node "n2"}]`: {"", "", "", ""},
	} {
		h, _ := read(t, text, Options{Model: "fenced"})
		var nodes []string
		for _, op := range h.Ops[1 : len(h.Ops)-1] {
			nodes = append(nodes, op.Node)
		}
		require.Equal(t, want, nodes, text)
	}
	h, _ := read(t, `[{:type :invoke, :f :who, :process 0, :node "n1"} {:type :ok, :f :who, :value ["n1" 4], :process 0, :node "n1"}]`, Options{Model: "leader"})
	require.Equal(t, []string{"n1"}, h.Setup().Nodes)
	require.False(t, h.Setup().NoTerms)
}

func TestALockIsNotTheResourceThatItGuards(t *testing.T) {
	const lock = "{:type :invoke, :f :acquire, :process 0} {:type :ok, :f :acquire, :value 6, :process 0}"
	const write = "{:type :invoke, :f :write, :value [5 1], :process 1} {:type :ok, :f :write, :process 1}"
	for _, text := range []string{lock + write, write + lock} {
		_, _, err := Read(strings.NewReader(text), EDN, Options{Model: "fenced"})
		require.ErrorContains(t, err, "a lock is acquired and a resource written to")
	}
}

func TestAnEndTellsOfWhatWasAskedFor(t *testing.T) {
	for _, c := range []struct {
		text, want, hint string
		o                Options
	}{
		{
			"{:type :invoke, :f :read, :value [1 nil], :process 0} {:type :ok, :f :read, :value [2 5], :process 0}",
			"process 0 ends :read of key 2, and had invoked that of 1", "", Options{Model: "register", Independent: true},
		},
		{
			"{:type :invoke, :f :txn, :value [[:r :x nil] [:r :y nil]], :process 0} {:type :ok, :f :txn, :value [[:r :x 1]], :process 0}",
			"it ends with 1 of the 2 reads and writes", "", Options{},
		},
		{
			"{:type :invoke, :f :txn, :value [[:r :x nil]], :process 0} {:type :ok, :f :txn, :value [[:r :y 1]], :process 0}",
			"[:r :y 1] is not what it was invoked with there", "", Options{},
		},
		{
			"{:type :invoke, :f :txn, :value [[:w :x 2]], :process 0} {:type :ok, :f :txn, :value [[:w :x 1]], :process 0}",
			"[:w :x 1] is not what it was invoked with there", "", Options{},
		},
		{
			"{:type :invoke, :f :acquire, :value [:k1 nil], :process 0}", "a lock is asked for a key", "say --independent", Options{Model: "mutex"},
		},
		{
			`{:type :invoke, :f :acquire, :process 0} {:type :ok, :f :acquire, :value {:client "x"}, :process 0}
			{:type :invoke, :f :release, :process 0} {:type :info, :f :release, :process 0}`,
			"line 2, column 45: process 0 tells of some of its operations for which client they are, and of others not", "tell the {:client name} of each",
			Options{Model: "owned-mutex"},
		},
		{
			"{:type :invoke, :f :cas, :value [1 2], :process 0}\n{:type :fail, :f :cas, :value 1, :process 0}",
			"line 2, column 1: value 1: a :cas that found what it takes does not :fail", "[old new] that it was asked for", Options{Model: "compare-exchange-register"},
		},
		{
			"{:type :invoke, :f :cas, :value [:k [1 2]], :process 0}\n{:type :fail, :f :cas, :value [:k 1], :process 0}",
			"a :cas that found what it takes does not :fail", "", Options{Model: "compare-exchange-register", Independent: true},
		},
		{
			"{:type :invoke, :f :read, :value nil, :process 0} {:type :ok, :f :read, :vlaue 7, :process 0}", ":vlaue tells nothing", "did you mean :value?", Options{},
		},
	} {
		_, _, err := Read(strings.NewReader(c.text), EDN, c.o)
		require.ErrorContains(t, err, c.want, c.text)
		require.Contains(t, hint.Of(err), c.hint, c.text)
	}
	read(t, `{:type :invoke, :f :acquire, :process 0} {:type :ok, :f :acquire, :value {:client "x"}, :process 0}
		{:type :invoke, :f :release, :value {:client "x"}, :process 0} {:type :ok, :f :release, :process 0}`, Options{Model: "owned-mutex"})
	// A client may be called as a process is, and one process may speak for several.
	read(t, `{:type :invoke, :f :acquire, :process 0} {:type :ok, :f :acquire, :value {:client 0}, :process 0}
		{:type :invoke, :f :release, :value {:client 0}, :process 0} {:type :ok, :f :release, :process 0}
		{:type :invoke, :f :acquire, :process 0} {:type :ok, :f :acquire, :value {:client 1}, :process 0}`, Options{Model: "owned-mutex"})
	// A :key of an operation on the one object that there is belongs to the test.
	for model, words := range map[string][3]string{"fenced": {"acquire", "nil", "3"}, "leader": {"who", "nil", "[:n1 3]"}, "multi-register": {"txn", "[[:r :x nil]]", "[[:r :x 1]]"}} {
		read(t, fmt.Sprintf("{:type :invoke, :f :%s, :value %s, :process 0, :key 1} {:type :ok, :f :%[1]s, :value %[3]s, :process 0, :key 1}", words[0], words[1], words[2]),
			Options{Model: model})
	}
}

func TestTimesSince1970(t *testing.T) {
	h, _ := read(t, `{:type :invoke, :f :read, :process 0, :time 1764300000000000000} {:type :ok, :f :read, :value 1, :process 0, :time 1764300000100000000}`,
		Options{Model: "register"})
	require.Equal(t, 100*time.Millisecond, h.Ops[2].Time)
}

func TestWhoGoesOnForAProcessIsNoOtherNode(t *testing.T) {
	const text = `[{:type :invoke, :f :who, :process 0} {:type :ok, :f :who, :value {:role :leader, :term 3}, :process 0}
		{:type :invoke, :f :who, :process 0} {:type :info, :f :who, :process 0, :error :timeout}
		{:type :invoke, :f :who, :process 5} {:type :ok, :f :who, :value {:role :leader, :term 3%s}, :process 5}]`
	_, _, err := Read(strings.NewReader(fmt.Sprintf(text, "")), EDN, Options{Model: "leader"})
	require.ErrorContains(t, err, "line 3, column 40: process 5 may go on for one whose outcome was unknown, and no :node tells whom it asked")
	h, _ := read(t, fmt.Sprintf(text, `, :node "n1"`), Options{Model: "leader"})
	require.Equal(t, []string{"0", "n1"}, h.Setup().Nodes)

	h, _ = read(t, `[{:type :invoke, :f :who, :process 0} {:type :ok, :f :who, :value [0 3], :process 0}]`, Options{Model: "leader"})
	require.Equal(t, history.Leader, h.Ops[2].View.Role, "the process is the node, and is named as such")
}

func TestWhichOpsOfANemesisBeginAFaultAndWhichEndOne(t *testing.T) {
	for _, c := range []struct{ fs, want string }{
		{"start start stop stop", "inject1 inject1 heal1 heal1"},
		{"kill kill start start", "inject1 inject1 heal1 heal1"},
		{"pause pause start-partition start-partition resume resume stop-partition stop-partition", "inject1 inject1 inject2 inject2 heal1 heal1 heal2 heal2"},
		{"bump bump reset reset", "inject1 inject1 heal1 heal1"},
		{"start-partition start-partition heal heal", "inject1 inject1 heal1 heal1"},
		{"kill pause", "inject1 inject1 inject2"}, // one line for each
	} {
		text := ""
		for _, f := range strings.Fields(c.fs) {
			text += fmt.Sprintf("{:type :info, :f :%s, :process :nemesis}\n", f)
		}
		h, _ := read(t, text, Options{})
		var got []string
		for _, op := range h.Ops[1 : len(h.Ops)-1] {
			got = append(got, fmt.Sprintf("%s%d", op.F, op.Fault.ID))
		}
		require.Equal(t, c.want, strings.Join(got, " "), c.fs)
	}
}

func TestMalformedHistoriesArePointedAt(t *testing.T) {
	invoke := "{:type :invoke, :f :read, :process 0}\n"
	nines := strings.Repeat("9", 400)
	for text, want := range map[string]string{
		invoke + "{:f :read, :process 0}":                         "line 2, column 1: an op without :type",
		invoke + " {:type :okay, :f :read, :process 0}":           "line 2, column 2: :type :okay: want :invoke, :ok, :fail or :info",
		invoke + "{:type :ok, :f :read}":                          "an op without :process",
		invoke + "{:type :ok, :f :read, :process -1}":             ":process -1: want 0 to",
		invoke + "{:type :ok, :f read, :process 0}":               ":f read: want a keyword",
		invoke + "{:type :ok, :f :read, :process 0, :time :late}": ":time :late: want a number",
		invoke + "{:type :ok, :f :write, :process 0}":             "line 2, column 1: process 0 ends :write, and has none under way",
		invoke + invoke:      "line 2, column 1: process 0 invokes :read before its :read of line 1 has ended",
		invoke + "[1]":       "line 2, column 1: [1] is no op",
		"[" + invoke + "] 1": "line 2, column 3: text after the end of the history",
		"[" + invoke:         "the text ends: want ']'",
		invoke + "{:type :invoke, :f :cas, :value 1, :process 1}": "value 1: want [old new]",
		invoke + "{:type :invoke, :f :fly, :process 1}":           "line 2, column 1: :f :fly: the model cas-register takes :read, :write and :cas",
		"INFO jepsen.util - 0 :invoke\n":                          "line 1, column 29: the line ends: want process, type, f and value",
		"INFO jepsen.util - 0 :begin :read nil\n":                 ":begin: want :invoke, :ok, :fail or :info",
		"INFO jepsen.util - 0 :invoke read nil\n":                 "read: want what is done",
		"INFO jepsen.util - 0 :invoke :cas [1 2\n":                "line 1, column 39: the text ends: want ']'",
		"INFO jepsen.util - -1 :invoke :read nil\n":               "process -1: want 0 to",
		"INFO jepsen.util - 0 :invoke :read nil\nINFO \x00\n":     "line 2, column 6: a byte 0",
		"hello": "line 1, column 1: no history",
		invoke + "{:type :ok, :f :read, :process " + nines + "}":                                     "line 2, column 1: :process 99999999999999999999…, larger than 2^63-1: want a number",
		invoke + "{:type :ok, :f :read, :process 0, :time " + nines + "}":                            "line 2, column 1: :time 99999999999999999999…, larger than 2^63-1: want a number",
		invoke + "{:type :ok, :f :read, :process 0, :index -" + nines + "N}":                         ":index -9999999999999999999…, less than -2^63: want a number",
		invoke + "{:type :ok, :f :read, :process 0, :time 9223372036854775808N}":                     ":time 9223372036854775808N, larger than 2^63-1: want a number",
		invoke + "{:type :ok, :f :read, :process 0, :time 1/3}":                                      ":time 1/3: want a number that is not negative",
		"{:type :invoke, :f :read, :process 0, :index 7}{:type :ok, :f :read, :process 0, :index 7}": "line 1, column 48: :index 7 after :index 7",
	} {
		_, _, err := Read(strings.NewReader(text), Sniff([]byte(text)), Options{})
		require.ErrorContains(t, err, want, text)
	}
	const misspelt = `{:type :invoke, :f :x, :process 1} {:type :ok, :f :x, :value {:rol :leader, :term 1}, :process 1}`
	_, _, err := Read(strings.NewReader(misspelt), EDN, Options{Model: "leader"})
	require.ErrorContains(t, err, "value {:rol :leader, :term 1}: :rol tells nothing")
	require.Equal(t, "did you mean :role?", hint.Of(err))
	_, _, err = Read(strings.NewReader(strings.Replace(misspelt, ":rol ", ":nodes [:n1], :role ", 1)), EDN, Options{Model: "leader"})
	require.NoError(t, err, "what else a value tells is the test's own")
	_, _, err = Read(strings.NewReader(strings.Replace(misspelt, ":rol ", ":leaders {:n1 2}, :r 7, :role ", 1)), EDN, Options{Model: "leader"})
	require.NoError(t, err, "and so it is where nothing is missing")
	_, _, err = Read(strings.NewReader("{:type :info, :f :start, :process :nemesis, :values [1]}"), EDN, Options{})
	require.NoError(t, err, "a nemesis tells what it likes")
	_, _, err = Read(strings.NewReader(`{:type :invoke, :f :x, :process 1} {:type :info, :f :x, :process 1}
		{:type :invoke, :f :x, :process 5, :node "5"} {:type :ok, :f :x, :process 5, :value ["5" 1]}`), EDN, Options{Model: "leader"})
	require.NoError(t, err, "the invoke told the node")
	for text, model := range map[string]string{
		`{:type :invoke, :f :write, :value 1, :process 1}`:                                        "fenced",
		`{:type :invoke, :f :write, :value [-1 1], :process 1}`:                                   "fenced",
		`{:type :invoke, :f :acquire, :process 1} {:type :ok, :f :acquire, :process 1}`:           "fenced",
		`{:type :invoke, :f :read, :process 1}`:                                                   "mutex",
		`{:type :invoke, :f :x, :process 1} {:type :ok, :f :x, :value 1, :process 1}`:             "leader",
		`{:type :invoke, :f :x, :process 1} {:type :ok, :f :x, :value ["n1" :a], :process 1}`:     "leader",
		`{:type :invoke, :f :x, :process 1} {:type :ok, :f :x, :value {:role :king}, :process 1}`: "leader",
		`{:type :invoke, :f :x, :process 1} {:type :ok, :f :x, :value {:up true}, :process 1}`:    "leader",
		`{:type :invoke, :f :x, :process 1} {:type :ok, :f :x, :value [true 1], :process 1}`:      "leader",
		`{:type :invoke, :f :read, :value [2 nil], :process 1}`:                                   "",
		`{:type :invoke, :f :write, :value [:a 1], :process 1}`:                                   "revisioned-register",
	} {
		_, _, err := Read(strings.NewReader(text), EDN, Options{Model: model})
		var s *edn.SyntaxError
		require.ErrorAs(t, err, &s, text)
	}
	_, _, err = Read(strings.NewReader(invoke), EDN, Options{Independent: true})
	require.ErrorContains(t, err, "value nil: want [key value]")
	for model, op := range map[string]string{
		"fenced": ":f :write, :value [:a [1 2]]", "leader": ":f :who, :value [:a nil]", "multi-register": ":f :txn, :value [:a [[:w :x 1]]]",
	} {
		_, _, err = Read(strings.NewReader("{:type :invoke, :process 0, "+op+"}"), EDN, Options{Model: model, Independent: true})
		require.ErrorContains(t, err, "the model "+model+" is of one ", "terms of two groups and registers of two stores have nothing to do with each other")
	}
	_, _, err = Read(strings.NewReader(strings.Repeat("{:type :info, :f :start, :process :nemesis}", 100)), EDN, Options{Memory: 10 * history.OpSize})
	require.ErrorContains(t, err, "ops are all that fits into 0 MiB")
}

// endless is a file without an end.
type endless struct{ text string }

func (e endless) Read(b []byte) (int, error) {
	text := strings.Repeat(e.text, max(len(b)/len(e.text), 1))
	return copy(b, text), nil
}

func TestAFileWithoutAnEndIsRefused(t *testing.T) {
	_, _, err := Read(endless{"INFO jepsen.util - 1 :ok :read "}, Log, Options{})
	require.ErrorContains(t, err, "the line goes on after 1 MiB")
	_, _, err = Read(endless{"{:type :info, :f :start, :process :nemesis} "}, EDN, Options{Memory: 1 << 20})
	require.ErrorContains(t, err, "ops are all that fits into 1 MiB")
}

func BenchmarkReadEDN(b *testing.B) {
	var text bytes.Buffer
	text.WriteString("[")
	for i := range 100_000 {
		kind, value := "invoke", "nil"
		if i%2 == 1 {
			kind, value = "ok", "3"
		}
		fmt.Fprintf(&text, "{:index %d, :time %d, :type :%s, :process %d, :f :read, :value %s}\n", i, i*1000, kind, i/2%5, value)
	}
	text.WriteString("]")
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Read(bytes.NewReader(text.Bytes()), EDN, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestFormatsAreToldByHowATextBegins(t *testing.T) {
	for text, want := range map[string]Format{
		"": JSONL, "{\"index\":0}": JSONL, "{\n  \"index\": 0": JSONL, "[{\"index\":0}]": JSONL, "[\n  {\n    \"index\": 0": JSONL,
		"[]": EDN, "[{:type :ok}]": EDN, "{:type :ok}": EDN, "[[{\"a\" 1}]]": EDN, "[\"{\"": EDN, "#{}": EDN, "hello": Unknown,
		"INFO jepsen.util - 0 :invoke :read nil": Log,
	} {
		require.Equal(t, want, Sniff([]byte(text)), text)
	}
}

func TestANumberThatIsTooLargeIsSaidToBe(t *testing.T) {
	_, _, err := Read(strings.NewReader("{:type :invoke, :f :write, :value [99999999999999999999 1], :process 1}"), EDN, Options{Model: "fenced"})
	require.ErrorContains(t, err, "value [99999999999999999999 1], of which 99999999999999999999 is larger than 2^63-1: want [token value], two numbers")
}
