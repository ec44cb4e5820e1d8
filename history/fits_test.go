package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

// TestWhatDoesNotFitIsRefusedWithItsLine has histories that are JSON, but no histories.
func TestWhatDoesNotFitIsRefusedWithItsLine(t *testing.T) {
	begin := `{"index":0,"time":0,"process":"harness","type":"ok","f":"begin","value":{"version":"1","target":"x","cluster":"sim","seed":1,"nodes":["n1"]%s}}` + "\n"
	var crowd strings.Builder
	inject := `{"index":0,"time":5,"process":"nemesis","type":"invoke","f":"inject","value":{"id":1,"name":"kill",%s}}` + "\n"
	var killed strings.Builder
	for i := range MaxNodes + 1 {
		fmt.Fprintf(&crowd, `,"m%d"`, i)
		fmt.Fprintf(&killed, `,{"node":"m%d","state":"down"}`, i)
	}
	ask := `{"index":%d,"time":%s,"process":0,"type":"invoke","f":"observe"%s}` + "\n"
	for _, c := range []struct{ text, want string }{
		{fmt.Sprintf(begin, "") + fmt.Sprintf(ask, 1, "-1", `,"node":"n1"`), "line 2, column 1: time -1: want nanoseconds since the run began, from 0"},
		{fmt.Sprintf(begin, "") + fmt.Sprintf(ask, 1, "9223372036854775807", `,"node":"n1"`), "line 2, column 1: time 9223372036854775807: want nanoseconds since the run began, less than 1152921504606846976"},
		{fmt.Sprintf(begin, "") + fmt.Sprintf(ask, 1, "1", ""), "line 2, column 1: observe lacks its node"},
		{fmt.Sprintf(begin, "") + fmt.Sprintf(begin, ""), "line 2, column 1: begin is not the first op"},
		{strings.Replace(fmt.Sprintf(begin, ""), `["n1"`, `["n1"`+crowd.String(), 1), "line 1, column 1: m255 is one node too many: at most 256"},
		{strings.Replace(fmt.Sprintf(begin, ""), `["n1"`, `["n1","n1"`, 1), "line 1, column 1: node n1 is named twice"},
		{strings.Replace(fmt.Sprintf(begin, ""), `["n1"`, `["n1",""`, 1), "line 1, column 1: a node without a name"},
		{fmt.Sprintf(begin, `,"voters":["n2"]`), "line 1, column 1: n2 is none of the nodes"},
		{strings.Replace(fmt.Sprintf(begin, ""), `["n1"`, "[\"n\xff\"", 1), "line 1, column 137: value is no text in UTF-8: what it was nobody knows, nor what is the same"},
		{fmt.Sprintf(begin, `,"voters":["n1","n1"]`), "line 1, column 1: node n1 is named twice"},
		{fmt.Sprintf(begin, `,"servers":["n1","n1"]`), "line 1, column 1: node n1 is named twice"},
		{fmt.Sprintf(begin, `,"voters":[""]`), "line 1, column 1: a node without a name"},
		{fmt.Sprintf(begin, `,"servers":["n1",""]`), "line 1, column 1: a node without a name"},
		{fmt.Sprintf(begin, `,"bounds":{"silence":-1,"elect":1,"poll":1}`), "line 1, column 1: a bound of -1 ns: want 0 or more, and no more than 720h0m0s"},
		{fmt.Sprintf(begin, `,"bounds":{"silence":1,"elect":9223372036854775807,"poll":1}`), "line 1, column 1: a bound of 9223372036854775807 ns: want 0 or more, and no more than 720h0m0s"},
		{fmt.Sprintf(begin, `,"lag":-1`), "line 1, column 1: a lag of -1 ns: want 0 or more, and no more than 720h0m0s"},
		{fmt.Sprintf(begin, `,"standing":true,"lag":9223372036854775807`), "line 1, column 1: a lag of 9223372036854775807 ns: want 0 or more, and no more than 720h0m0s"},
		{fmt.Sprintf(begin, `,"bounds":{"silence":1,"elect":1,"poll":1,"moves":1001}`), "line 1, column 1: bounds of 1001 moves, 0 returns and 0 terms: want 0 or more, and no more than 1000"},
		{`{"index":0,"time":5,"process":"harness","type":"info","f":"stall","value":{"token":0,"value":-4}}` + "\n", "line 1, column 1: a stall of -4 ns: want 0 or more, and less than 1152921504606846976"},
		{`{"index":0,"time":5,"process":5,"type":"invoke","f":"inject","value":{"id":1,"name":"kill"}}` + "\n", `line 1, column 1: inject by process 5: it is the nemesis that does so, "process": "nemesis"`},
		{`{"index":0,"time":5,"process":0,"type":"ok","f":"granted","node":"n1","value":{"term":1,"for":""}}` + "\n", "line 1, column 1: granted: a vote for nobody"},
		{fmt.Sprintf(inject, `"procs":[{"node":"n1","state":"Up"}]`), `line 1, column 1: inject: the process of n1 cannot be "Up": want up, down, stopped, crashed, paused or frozen`},
		{fmt.Sprintf(inject, `"procs":[{"node":"n1"}]`), `line 1, column 1: inject: the process of n1 cannot be "": want up, down, stopped, crashed, paused or frozen`},
		{fmt.Sprintf(inject, `"procs":[{"state":"down"}]`), `line 1, column 1: inject: a process of nobody`},
		{fmt.Sprintf(inject, `"more":{"parts":[{"node":"n1","process":"db","state":"frozen"}]}`), `line 1, column 1: inject: the processes db of n1 cannot be "frozen": want up, down or paused`},
		{fmt.Sprintf(inject, `"clocks":[{"node":"n1","drift":-1}]`), `line 1, column 1: inject: the clock of n1: a drift of -1`},
		{fmt.Sprintf(inject, `"more":{"memory":[{"node":"n1","times":-2}]}`), `line 1, column 1: inject: the memory of n1: -2 times what it used`},
		{fmt.Sprintf(inject, `"more":{"memory":[{"node":"n1","bytes":-1}]}`), `line 1, column 1: inject: the memory of n1: a limit of -1`},
		{fmt.Sprintf(inject, `"more":{"members":[{"node":"n1","as":"Removed"}]}`), `line 1, column 1: inject: n1 cannot become "Removed": want voter, learner or removed`},
		{fmt.Sprintf(inject, `"procs":[{"node":"m","state":"down"}`+killed.String()+`]`), "line 1, column 1: m255 is one node too many: at most 256"},
	} {
		_, err := Parse(strings.NewReader(c.text))
		require.EqualError(t, err, c.want)
	}
	many := strings.Builder{}
	for i := range MaxNodes + 1 {
		fmt.Fprintf(&many, ask, i, "1", fmt.Sprintf(`,"node":"m%d"`, i))
		fmt.Fprintf(&many, `{"index":%d,"time":1,"process":0,"type":"fail","f":"observe","node":"m%d"}`+"\n", i, i)
	}
	_, err := Parse(strings.NewReader(many.String()))
	require.EqualError(t, err, "line 513, column 1: m256 is one node too many: at most 256")
}

// TestLinksThatAreNone excuse nobody: they are refused, with the way out.
func TestLinksThatAreNone(t *testing.T) {
	for _, c := range []struct{ link, want, hint string }{
		{`{"from":"n1","cut":true}`, "link n1→ lacks an end", `a link goes "from" one node "to" another`},
		{`{"to":"n1","cut":true}`, "link →n1 lacks an end", `a link goes "from" one node "to" another`},
		{`{"from":"n1","to":"n1"}`, "link n1→n1 goes to where it comes from", "a link is between two nodes; what befalls one alone is in procs, clocks or disks"},
		{`{"from":"n1","to":"n2","port":65536}`, "link n1→n2: no port 65536", "ports are from 1 to 65535; leave it out for all"},
		{`{"from":"n1","to":"n2","port":-1}`, "link n1→n2: no port -1", "ports are from 1 to 65535; leave it out for all"},
		{`{"from":"n1","to":"n2","loss":30}`, "link n1→n2: a loss of 30", "a chance is from 0 to 1"},
		{`{"from":"n1","to":"n2","duplicate":-0.1}`, "link n1→n2: a duplicate of -0.1", "a chance is from 0 to 1"},
		{`{"from":"n1","to":"n2","port":80,"reorder":1.5}`, "link n1→n2 port 80: a reorder of 1.5", "a chance is from 0 to 1"},
		{`{"from":"n1","to":"n2","delay":-1}`, "link n1→n2: a delay of -1", "leave out what is not limited, or write 0"},
		{`{"from":"n1","to":"n2","jitter":-1}`, "link n1→n2: a jitter of -1", "leave out what is not limited, or write 0"},
		{`{"from":"n1","to":"n2","rate":-1}`, "link n1→n2: a rate of -1", "leave out what is not limited, or write 0"},
	} {
		for _, op := range []string{
			`{"index":0,"time":5,"process":"nemesis","type":"invoke","f":"inject","value":{"id":1,"name":"x","links":[%s]}}` + "\n",
			`{"index":0,"time":5,"process":"harness","type":"info","f":"exit","node":"n1","value":{"id":1,"name":"x","links":[%s]}}` + "\n",
		} {
			_, err := Parse(strings.NewReader(fmt.Sprintf(op, c.link)))
			require.ErrorContains(t, err, "line 1, column 1: ")
			require.ErrorContains(t, err, ": "+c.want)
			require.Equal(t, c.hint, hint.Of(err))
		}
	}
	whole := `{"index":0,"time":5,"process":"nemesis","type":"invoke","f":"inject","value":{"id":1,"name":"x","links":[{"from":"n1","to":"n2","port":65535,"loss":1,"duplicate":1,"reorder":1}]}}`
	_, err := Parse(strings.NewReader(whole))
	require.NoError(t, err)
}

// TestExitsByTraps have a fault that says how the process of that node has ended, or none.
func TestExitsByTraps(t *testing.T) {
	exit := `{"index":0,"time":5,"process":"harness","type":"info","f":"exit","node":"n1"%s}` + "\n"
	for value, fits := range map[string]bool{
		"": true,
		`,"value":{"procs":[{"node":"n1","state":"crashed"}]}`: true,
		`,"value":{}`: false,
		`,"value":{"procs":[{"node":"n1","state":"up"}]}`:                                false,
		`,"value":{"procs":[{"node":"n1","state":"paused"}]}`:                            false,
		`,"value":{"procs":[{"node":"n2","state":"down"}]}`:                              false,
		`,"value":{"procs":[{"node":"n1","state":"down"},{"node":"n2","state":"down"}]}`: false,
	} {
		_, err := Parse(strings.NewReader(fmt.Sprintf(exit, value)))
		if fits {
			require.NoError(t, err, value)
			continue
		}
		require.ErrorContains(t, err, "line 1, column 1: exit: the fault does not say how the process of n1 has ended", value)
		require.Contains(t, hint.Of(err), `"value":{"procs":[{"node":"n1","state":"down"}]}`)
	}
}

// TestComparesAreOfTheHarness has others compare.
func TestComparesAreOfTheHarness(t *testing.T) {
	for op, want := range map[string]string{
		`{"index":0,"time":5,"process":1,"type":"fail","f":"compare"}`:       "compare by process 1",
		`{"index":0,"time":5,"process":"nemesis","type":"ok","f":"compare"}`: "compare by process nemesis",
	} {
		_, err := Parse(strings.NewReader(op + "\n"))
		require.ErrorContains(t, err, "line 1, column 1: "+want)
		require.Contains(t, hint.Of(err), "it is of the harness")
	}
}

// TestWhatIsToldAtOnce has happened: it is refused as what certainly did not, or nobody knows, or as what only begins.
func TestWhatIsToldAtOnce(t *testing.T) {
	for op, fits := range map[string][]Type{
		`"process":0,"f":"announce","node":"n1","value":{"role":"leader","term":1}`: {OK},
		`"process":0,"f":"granted","node":"n1","value":{"for":"n1","term":1}`:       {OK},
		`"process":0,"f":"apply","node":"n1","value":{"term":1,"counter":1}`:        {OK},
		`"process":"harness","f":"clock","node":"n1","value":{"wall":1}`:            {OK},
		`"process":"harness","f":"settle"`:                                          {OK},
		`"process":"harness","f":"exit","node":"n1"`:                                {OK, Info},
		`"process":"harness","f":"stall","value":{"value":1}`:                       {OK, Info},
		`"process":"harness","f":"endless"`:                                         {OK, Info},
		`"process":"harness","f":"compare"`:                                         {OK, Fail, Info},
		`"process":"harness","f":"end"`:                                             {OK, Fail, Info},
	} {
		for _, is := range []Type{Invoke, OK, Fail, Info} {
			_, err := Parse(strings.NewReader(fmt.Sprintf(`{"index":0,"time":5,"type":"%s",%s}`, is, op) + "\n"))
			if slices.Contains(fits, is) {
				require.NoError(t, err, op)
				continue
			}
			require.ErrorContains(t, err, "of type "+is.String(), op)
			require.Contains(t, hint.Of(err), "it is told at once, as ")
		}
	}
}

// TestWhoEndsWhat has an operation end as one of another node, or of another fault.
func TestWhoEndsWhat(t *testing.T) {
	for ops, want := range map[string]string{
		`{"index":0,"time":1,"process":7,"type":"invoke","f":"observe","node":"n1"}
{"index":1,"time":2,"process":7,"type":"ok","f":"observe","node":"n2","value":{"role":"leader","term":1}}
`: "process 7 ends observe of n2, and had invoked that of n1 with op 0",
		`{"index":0,"time":1,"process":"nemesis","type":"invoke","f":"inject","value":{"id":1,"name":"x"}}
{"index":1,"time":2,"process":"nemesis","type":"ok","f":"inject","value":{"id":2,"name":"x"}}
`: "process nemesis ends the inject of fault 2, and had invoked that of fault 1 with op 0",
	} {
		_, err := Parse(strings.NewReader(ops))
		require.ErrorContains(t, err, want)
	}
}

// TestAnEndIsOfWhatWasAskedFor has a client's operation end as another than it began, and as the same.
func TestAnEndIsOfWhatWasAskedFor(t *testing.T) {
	for _, c := range []struct{ f, begins, ends, want string }{
		{"put", `{"value":"a"}`, `{"value":"b"}`, `process 7 ends another put than it had invoked with op 0: "b", not "a"`},
		{"put", `{"value":"a"}`, `{}`, `ends another put than it had invoked with op 0: "", not "a"`},
		{"put", `{"key":"x","value":"a"}`, `{"key":"y","value":"a"}`, `"a" of key "y", not "a" of key "x"`},
		{"put", `{"key":"x","value":"a"}`, `{"key":"x","value":"a","revision":3}`, ""},
		{"cas", `{"value":"b","old":"a"}`, `{"value":"b","old":"c"}`, `"c" to "b", not "a" to "b"`},
		{"cas", `{"value":"b","old":"a"}`, `{"value":"b","old":"a"}`, ""},
		{"get", `{"key":"x"}`, `{"key":"y","value":"a"}`, `of key "y", not of key "x"`},
		{"get", `{"key":"x"}`, `{"key":"x","value":"a"}`, ""},
		{"get", ``, `{"key":"x","value":"a"}`, ""},
		{"acquire", `{"value":"me"}`, `{"value":"you"}`, `"you", not "me"`},
		{"release", ``, `{"value":"you"}`, ""},
		{"write", `{"token":3,"value":7}`, `{"token":4,"value":7}`, "7 with token 4, not 7 with token 3"},
		{"write", `{"token":3,"value":7}`, `{"token":3,"value":8}`, "8 with token 3, not 7 with token 3"},
		{"write", `{"token":3,"value":7}`, `{"token":3,"value":7}`, ""},
		{"txn", `{"uses":[{"f":"put","key":"x","value":"a"},{"f":"get","key":"y"}]}`, `{"uses":[{"f":"put","key":"x","value":"a"},{"f":"get","key":"y","value":"b"}]}`, ""},
		{"txn", `{"uses":[{"f":"put","key":"x","value":"a"},{"f":"get","key":"y"}]}`, `{"uses":[{"f":"put","key":"x","value":"b"},{"f":"get","key":"y"}]}`,
			"put x b, get y, not put x a, get y"},
		{"txn", `{"uses":[{"f":"get","key":"x"}]}`, `{"uses":[{"f":"get","key":"z"}]}`, "get z, not get x"},
		{"txn", `{"uses":[{"f":"get","key":"x"}]}`, `{"uses":[{"f":"put","key":"x"}]}`, "put x, not get x"},
		{"txn", `{"uses":[{"f":"get","key":"x"}]}`, `{"uses":[]}`, ", not get x"},
	} {
		op := func(index int, kind, value string) string {
			if value != "" {
				value = `,"value":` + value
			}
			return fmt.Sprintf("{\"index\":%d,\"time\":1,\"process\":7,\"type\":%q,\"f\":%q%s}\n", index, kind, c.f, value)
		}
		ops := op(0, "invoke", c.begins) + op(1, "ok", c.ends)
		_, err := Parse(strings.NewReader(ops))
		streamed := Stream(strings.NewReader(ops), func(*Op) error { return nil })
		if c.want == "" {
			require.NoError(t, err, ops)
			require.NoError(t, streamed, ops)
			continue
		}
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, streamed, c.want)
		for _, loose := range []string{`"model":"cas-register"`, `"lock":true`} {
			_, err := Parse(strings.NewReader(`{"type":"ok","f":"begin","value":{` + loose + "}}\n" + ops))
			require.NoError(t, err, "of others' logs some tell in the end what came of it")
		}
	}
}

// TestDisksAndSharesThatAreNone have chances and shares that there are not.
func TestDisksAndSharesThatAreNone(t *testing.T) {
	for states, want := range map[string]string{
		`"disks":[{"node":"n1","writeErrors":2}]`:  "a writeErrors of 2",
		`"disks":[{"node":"n1","syncErrors":-1}]`:  "a syncErrors of -1",
		`"disks":[{"node":"n1","readErrors":30}]`:  "a readErrors of 30",
		`"disks":[{"node":"n1","slow":-1}]`:        "a slow of -1",
		`"more":{"cpu":[{"node":"n1","share":2}]}`: "the processor of n1: a share of 2",
	} {
		_, err := Parse(strings.NewReader(`{"index":0,"time":1,"process":"nemesis","type":"invoke","f":"inject","value":{"id":1,"name":"x",` + states + "}}\n"))
		require.ErrorContains(t, err, want)
	}
	_, err := Parse(strings.NewReader(`{"index":0,"time":1,"process":"nemesis","type":"invoke","f":"inject","value":{"id":1,"name":"x","disks":[{"node":"n1","writeErrors":1,"slow":5}],"more":{"cpu":[{"node":"n1","share":1}]}}}` + "\n"))
	require.NoError(t, err)
}

// TestOpsThatDoNotFit have no line, but a number.
func TestOpsThatDoNotFit(t *testing.T) {
	_, err := New([]Op{{Index: 7, Time: -3, F: Settle, Type: OK, Process: Harness}})
	require.EqualError(t, err, "op 7: time -3: want nanoseconds since the run began, from 0")
}

// TestEndIsLast has an end that is not: a run that was not cut short can never have written it. Where it stands in the file
// does not matter, but its time does.
func TestEndIsLast(t *testing.T) {
	end := `{"index":2,"time":%d,"process":"harness","type":"ok","f":"end"}` + "\n"
	settle := `{"index":1,"time":7,"process":"harness","type":"ok","f":"settle"}` + "\n"
	for _, c := range []struct{ text, want string }{
		{settle + fmt.Sprintf(end, 6), "line 2, column 1: end is at 6 ns, before an op at 7 ns: want end last"},
		{fmt.Sprintf(end, 6) + settle, "line 2, column 1: settle at 7 ns comes after end, which is at 6 ns: want end last"},
		{fmt.Sprintf(end, 7) + settle, "line 2, column 1: settle at 7 ns comes after end, which is at 7 ns: want end last"},
		{fmt.Sprintf(end, 7) + fmt.Sprintf(end, 7), "line 2, column 1: end at 7 ns comes after end, which is at 7 ns: want end last"},
	} {
		_, err := Parse(strings.NewReader(c.text))
		require.EqualError(t, err, c.want)
	}
	for _, text := range []string{settle + fmt.Sprintf(end, 7), fmt.Sprintf(end, 8) + settle} {
		h, err := Parse(strings.NewReader(text))
		require.NoError(t, err)
		require.True(t, h.Complete())
	}
}

// TestATimeThatIsMissingIsNotTheFirst has an op that would be moved before all others for want of a time.
func TestATimeThatIsMissingIsNotTheFirst(t *testing.T) {
	const first, timed, none, zero = `{"process":"harness","type":"ok","f":"begin","value":{"nodes":["n1"]}}` + "\n",
		`{"time":7,"process":1,"type":"invoke","f":"put","value":{"value":"1"}}` + "\n",
		`{"process":2,"type":"invoke","f":"get"}` + "\n", `{"time":0,"process":3,"type":"invoke","f":"get"}` + "\n"
	for _, text := range []string{first + timed + none, first + timed + zero + none} {
		_, err := Parse(strings.NewReader(text))
		require.ErrorContains(t, err, "column 1: no time, and an op before it tells one: want nanoseconds since the run began")
	}
	for _, text := range []string{first + none + timed, first + timed + zero, first + none + zero} {
		_, err := Parse(strings.NewReader(text))
		require.NoError(t, err)
	}
}

// TestWhoIsNoMemberIsRefused has a node that is a member since nobody knows when: a name with a typing mistake.
func TestWhoIsNoMemberIsRefused(t *testing.T) {
	begin := `{"index":0,"time":0,"process":"harness","type":"ok","f":"begin","value":{"nodes":["n1"]%s}}` + "\n"
	tells := `{"index":2,"time":2,"process":0,"type":"ok","f":"announce","node":"n2","value":{"role":"leader","term":1}}` + "\n"
	asked := `{"index":1,"time":1,"process":0,"type":"invoke","f":"reconfigure","node":"n1","value":{"node":"n2","as":"voter"}}` + "\n"
	added := `{"index":1,"time":1,"process":"nemesis","type":"invoke","f":"inject","value":{"id":1,"name":"add-member","more":{"members":[{"node":"n2","as":"voter"}]}}}` + "\n"
	killed := `{"index":1,"time":1,"process":"nemesis","type":"invoke","f":"inject","value":{"id":1,"name":"kill","procs":[{"node":"n2","state":"down"}]}}` + "\n"
	_, err := Parse(strings.NewReader(fmt.Sprintf(begin, "") + tells))
	require.EqualError(t, err, "line 2, column 1: op 2: announce of n2, which begin does not name among the nodes, and no change of members added")
	_, err = Parse(strings.NewReader(fmt.Sprintf(begin, "") + killed + tells)) // a fault that befalls a stranger makes it no member
	require.EqualError(t, err, "line 3, column 1: op 2: announce of n2, which begin does not name among the nodes, and no change of members added")
	for _, text := range []string{
		fmt.Sprintf(begin, "") + asked + tells,
		fmt.Sprintf(begin, "") + added + tells,
		fmt.Sprintf(begin, `,"model":"leader"`) + tells,                // of somebody else's it names those that were seen
		strings.Replace(fmt.Sprintf(begin, ""), `"n1"`, "", 1) + tells, // or none
		tells,
		fmt.Sprintf(begin, "") + tells + asked, // lines need not be in the order of time
		fmt.Sprintf(begin, "") + tells + added,
	} {
		_, err := Parse(strings.NewReader(text))
		require.NoError(t, err, text)
	}
	late := strings.Replace(asked, `"index":1,"time":1`, `"index":3,"time":3`, 1)
	_, err = Parse(strings.NewReader(fmt.Sprintf(begin, "") + tells + late))
	require.EqualError(t, err, "line 2, column 1: op 2: announce of n2, which begin does not name among the nodes, and no change of members added")
	none := func(*Op) error { return nil }
	require.ErrorIs(t, Stream(strings.NewReader(fmt.Sprintf(begin, "")+tells+asked), none), ErrDisorder)
	require.EqualError(t, Stream(strings.NewReader(fmt.Sprintf(begin, "")+tells+late), none), err.Error())
}
