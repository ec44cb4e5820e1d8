package jepsen

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// ops are what fuzzing sets out from.
var ops = []string{
	"{:type :invoke, :f :cas, :value [1 2], :process 0, :time 1} {:type :info, :f :start, :process :nemesis}",
	"{:type :invoke, :f :write, :value nil, :process 0N} {:type :ok, :f :write, :value {:a #{1 (2)}}, :process 0.0, :error \"x\"}",
	`{:type :invoke, :f :x, :process 1} {:type :ok, :f :x, :value ["n1" 1], :process 1, :node "n1"}`,
	`{:type :invoke, :f :acquire, :process 1} {:type :ok, :f :acquire, :value {:fence 3, :client "a"}, :process 1}`,
	"{:type :invoke, :f :txn, :value [[:r :x nil] [:w 2 #inst \"2020\"]], :process 1} {:type :ok, :f :txn, :value [[:r :x 1/2] [:w 2 1.50M]], :process 1}",
	"{:type :invoke, :f :write, :value [:k [nil 2]], :process 1} {:type :ok, :f :write, :value [:k [4 2]], :process 1}",
	"{:type :invoke, :f :cas, :value [1 2], :process 1} {:type :fail, :f :cas, :value 5, :process 1}",
	`{:process :harness, :f :begin, :type :info, :recount/type :ok, :index 0, :time 0, :value {:nodes ["n1"]}}`,
	"#jepsen.history.Op{:index 0, :time 1, :type :invoke, :f :read, :process 3, :value ^{:a 1} [#_1 ##Inf \\a]}",
}

// survives reads a history, which must not panic, and if it can be read holds it to surviving the way back.
func survives(t *testing.T, text string, f Format, o Options) {
	h, m, err := Read(strings.NewReader(text), f, o)
	if err != nil {
		return
	}
	var b bytes.Buffer
	require.NoError(t, Write(&b, h))
	again, same, err := Read(bytes.NewReader(b.Bytes()), EDN, Options{})
	if len(h.Ops) == 0 || h.Ops[0].Setup == nil || h.Ops[0].Process != history.Harness {
		return // it does not tell that it is one of Recount's
	}
	require.NoError(t, err, "%q written as %s", text, b.String())
	require.Equal(t, m.Name, same.Name)
	require.Equal(t, lines(h), lines(again), "%q written as %s", text, b.String())
}

func options(model uint8, independent bool) Options {
	o := Options{Independent: independent, Memory: 64 << 20, Cut: model >= 128}
	if n := int(model) % (len(Models) + 1); n > 0 {
		o.Model = Models[n-1].Name
	}
	return o
}

func FuzzEDN(f *testing.F) {
	for i, text := range ops {
		for model := range uint8(len(Models) + 1) {
			f.Add("["+text+"]", model, i%2 == 0)
			f.Add(text, model+128, false)
		}
	}
	f.Fuzz(func(t *testing.T, text string, model uint8, independent bool) {
		survives(t, text, EDN, options(model, independent))
	})
}

func FuzzLog(f *testing.F) {
	for _, text := range []string{
		"INFO  jepsen.util - 3\t:invoke\t:cas\t[1 2]\nINFO  jepsen.util - 3\t:info\t:cas\t:timed-out\n", "0\t:invoke\t:write\t1\n0\t:ok\t:write\t1\n",
		"INFO [2017-03-30 15:28:17,423] jepsen worker 2 - jepsen.util 2  :invoke :read nil\nINFO jepsen.core - done\n",
		"2020-01-01 12:00:00,123{GMT}\tINFO\t[jepsen worker 2] jepsen.util: 2\t:fail\t:acquire\tnil\t#<X>\n:nemesis :info :start {:n1 #{}}\n",
		"0 :invoke :txn [[:r 1 nil]]\n0 :ok :txn [[:r 1 2]]", "\ufeff1.0 :invoke :write [:x 1]\r\n",
	} {
		f.Add(text, uint8(0), false)
		f.Add(text, uint8(130), true)
	}
	f.Fuzz(func(t *testing.T, text string, model uint8, independent bool) {
		survives(t, text, Log, options(model, independent))
	})
}
