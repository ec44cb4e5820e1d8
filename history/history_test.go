package history

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recount/internal/hint"
	_ "recount/internal/testseed" // the same cases each time
)

// every is one op of each kind, as a run might record them.
func every() []Op {
	fault := &Fault{
		ID: 1, Name: "flap-link", Params: map[string]string{"up": "1s", "down": "2s"}, Asked: []string{"leader"},
		Nodes: []string{"n1"}, Spread: 3 * time.Microsecond,
		Changes: Changes{
			Links:  []Link{{From: "n1", To: "n2", LinkState: LinkState{Cut: true}}, {From: "n2", To: "n1"}},
			Procs:  []Proc{{Node: "n1", State: Paused}},
			Clocks: []Clock{{Node: "n1", Offset: -time.Second, Drift: 0.01}},
		},
	}
	setup := &Setup{
		Version: "1", Target: "raft", Options: map[string]string{"scale": "1"}, Cluster: "sim", Seed: 1 << 63,
		Nodes: []string{"n1", "n2"}, Bounds: Bounds{Silence: 1, Elect: 2, Poll: 3},
	}
	ops := []Op{
		{Process: Harness, Type: OK, F: Begin, Setup: setup},
		{Process: 0, Type: Invoke, F: Observe, Node: "n1"},
		{Process: Harness, Type: OK, F: Settle},
		{Process: Nemesis, Type: Invoke, F: Inject, Fault: fault},
		{Process: 0, Type: OK, F: Observe, Node: "n1", View: View{Role: Leader, Term: 4, Leader: "n1", Tenure: 2, Torn: true}},
		{Process: Nemesis, Type: Info, F: Inject, Fault: fault, Error: "probe \"n1\"\tlost ü"},
		{Process: 0, Type: OK, F: Announce, Node: "n1", View: View{Role: Candidate, Term: 5}},
		{Process: 0, Type: OK, F: Granted, Node: "n1", Vote: Vote{Term: 5, For: "n2"}},
		{Process: 7, Type: Invoke, F: Write, Node: "n1", Access: Access{Token: 4, Value: -17}},
		{Process: 7, Type: Fail, F: Write, Node: "n1", Access: Access{Token: 4, Value: -17}, Error: "stale"},
		{Process: 8, Type: Invoke, F: Read},
		{Process: 8, Type: OK, F: Read, Access: Access{Token: 5, Value: 3}},
		{Process: 9, Type: Invoke, F: CAS, Node: "n1", Reg: &Register{Key: "x", Value: "2", Old: "1"}},
		{Process: 9, Type: OK, F: CAS, Node: "n1", Reg: &Register{Key: "x", Value: "2", Old: "1", Revision: 7}},
		{Process: 9, Type: Invoke, F: Get, Node: "n1"},
		{Process: 9, Type: OK, F: Get, Node: "n1", Reg: &Register{}},
		{Process: 9, Type: Invoke, F: Acquire},
		{Process: 9, Type: Info, F: Acquire, Error: "timeout"},
		{Process: 1, Type: OK, F: Apply, Node: "n2", Value: &Update{Term: 3, Counter: 17, From: "n1"}},
		{Process: Nemesis, Type: Invoke, F: Heal, Fault: fault},
		{Process: Nemesis, Type: OK, F: Heal, Fault: fault},
		{Process: Harness, Type: Info, F: Stall, Access: Access{Value: 150e6}},
		{Process: Harness, Type: Info, F: Exit, Node: "n2", Error: "exit status 1"},
		{Process: Harness, Type: OK, F: ReadClock, Node: "n1", Reading: Reading{Wall: -time.Hour, Monotonic: 17}},
		{Process: 1, Type: Invoke, F: Observe, Node: "n2"},
		{Process: 1, Type: Fail, F: Observe, Node: "n2", Error: "connection refused"},
		{Process: Harness, Type: OK, F: End},
	}
	for i := range ops {
		ops[i].Index, ops[i].Time = i, time.Duration(i)*time.Millisecond
	}
	return ops
}

func text(ops []Op) []byte {
	var b bytes.Buffer
	r := NewRecorder(&b, 0)
	for _, op := range ops {
		r.Append(op)
	}
	return b.Bytes()
}

func TestWhatIsRecordedIsReadBack(t *testing.T) {
	ops := every()
	h, err := Parse(bytes.NewReader(text(ops)))
	require.NoError(t, err)
	require.Equal(t, ops, h.Ops)
	require.True(t, h.Complete())
	require.Equal(t, "raft", h.Setup().Target)
	require.Equal(t, 4, h.Other(1))
	require.Equal(t, 1, h.Other(4))
	require.Equal(t, -1, h.Other(6))
	require.Equal(t, text(ops), text(h.Ops), "and written again as it was")
}

func TestACompressedHistoryIsReadBack(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text(every()))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	h, err := Parse(bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	require.Equal(t, every(), h.Ops)
	_, err = Parse(bytes.NewReader(b.Bytes()[:b.Len()/2]))
	require.ErrorIs(t, err, ErrCut)
	_, err = Parse(bytes.NewReader(b.Bytes()[:5]))
	require.ErrorIs(t, err, ErrCut)
}

// TestACompressedHistoryIsReadUpToWhereItIsCut loses no op that a reader could have had.
func TestACompressedHistoryIsReadUpToWhereItIsCut(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	want := every()
	for line := range bytes.Lines(text(want)) { // each of them reaches the file
		_, err := z.Write(line)
		require.NoError(t, err)
		require.NoError(t, z.Flush())
	}
	flushed := b.Len()
	require.NoError(t, z.Close())
	h, err := Parse(bytes.NewReader(b.Bytes()[:flushed]))
	require.ErrorIs(t, err, ErrCut)
	require.Equal(t, want, h.Ops)
}

func TestAMarkBeforeTheTextAndBlankLinesAreNoOps(t *testing.T) {
	crlf := bytes.ReplaceAll(text(every()), []byte("\n"), []byte("\r\n\r\n \n"))
	h, err := Parse(bytes.NewReader(append([]byte("\ufeff"), crlf...)))
	require.NoError(t, err)
	require.Equal(t, every(), h.Ops)
}

func TestStringsOfAllKindsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := Op{Type: Fail, F: Observe, Node: rapid.String().Draw(t, "node"), Error: rapid.String().Draw(t, "error")}
		op.Node, op.Error = strings.ToValidUTF8(op.Node, "?"), strings.ToValidUTF8(op.Error, "?")
		var got Op
		require.NoError(t, got.UnmarshalJSON(op.AppendJSON(nil)))
		require.Equal(t, op, got)
	})
}

func TestAKilledRunLeavesAReadableHistory(t *testing.T) {
	whole := text(every())
	for cut := range len(whole) {
		h, err := Parse(bytes.NewReader(whole[:cut]))
		if cut == 0 || whole[cut-1] == '\n' || whole[cut] == '\n' { // what lacks but its newline is whole
			require.NoError(t, err)
			require.Equal(t, cut == len(whole)-1, h.Complete())
			continue
		}
		require.ErrorIs(t, err, ErrCut)
		require.Len(t, h.Ops, bytes.Count(whole[:cut], []byte("\n")), "the ops before the cut are there")
	}
}

func TestMalformedHistoriesNameTheLine(t *testing.T) {
	good := `{"index":0,"time":0,"process":0,"type":"invoke","f":"observe","node":"n1"}` + "\n"
	nines := strings.Repeat("9", 400)
	for bad, want := range map[string]string{
		`{"index":0`:                "line 2, column 11: the op ends in its middle: want }",
		`{"indx":1}`:                `line 2, column 7: unknown field "indx": want index, time`,
		`{"time":null,"type":"ok"}`: `line 2, column 9: time is null: leave it out, or say what it is`,
		`{"process":0,"type":"ok","f":"observe","value":null}`:                                                       "value is null",
		"{\"process\":0,\"type\":\"ok\",\"f\":\"observe\",\"value\":\rnull}":                                         "value is null",
		`{"time":1,"time":2,"type":"ok"}`:                                                                            `line 2, column 16: "time" for the second time: which of the two counts?`,
		`{"type":"ok","f":"observe","node":"n1","value":{"Role":"leader","term":1}}`:                                 `value of observe: unknown field "Role": fields are written in small letters`,
		`{"type":"ok","f":"observe","value":{"role":"leader","term":1,"Term":2}}`:                                    `unknown field "Term"`,
		`{"process":"nemesis","type":"invoke","f":"inject","value":{"id":1,"procs":[{"node":"N1","State":"down"}]}}`: `unknown field "State"`,
		`{"type":"ok","f":"observe","value":{"leader":"n1","term":1,"leader":"n2"}}`:                                 `line 2, column 67: "leader" for the second time`,
		`{"type":"ok","f":"fly"}`:                  `line 2, column 18: unknown f "fly"`,
		`{"type":"ok","f":"write"}`:                "lacks its value",
		`{"f":"write"}`:                            "line 2, column 6: the op has no type: want invoke, ok, fail or info",
		`{"type":"ok"}`:                            "line 2, column 1: the op has no f",
		` {"index":x}`:                             "line 2, column 11: invalid character 'x'",
		`[1]`:                                      "line 2, column 1: no op: a JSON array",
		`7`:                                        "line 2, column 1: no op: want an object like",
		`{"type":"ok","f":"get"}`:                  "ok get lacks its value",
		`{"type":"ok","f":"end"}]`:                 "line 2, column 24: invalid character ']' after top-level value",
		"{\"type\":\x00}":                          "line 2, column 9: a byte 0: want text",
		`{"index":1.5,"type":"ok"}`:                "line 2, column 10: index: 1.5: want a whole number",
		`{"time":1.5,"type":"ok"}`:                 "line 2, column 9: time: 1.5: want a whole number of nanoseconds",
		`{"index":` + nines + `,"type":"ok"}`:      "line 2, column 10: index: 99999999999999999999…, larger than 2^63-1: want a whole number",
		`{"time":-` + nines + `,"type":"ok"}`:      "line 2, column 9: time: -9999999999999999999…, less than -2^63: want a whole number of nanoseconds",
		`{"time":9223372036854775808,"type":"ok"}`: "time: 9223372036854775808, larger than 2^63-1: want",
		`{"process":` + nines + `}`:                "process: unknown process 99999999999999999999…, larger than 2^31-1: want a number",
		`{"process":2147483648}`:                   "process: unknown process 2147483648, larger than 2^31-1: want a number",
		`{"process":-` + nines + `}`:               "process: unknown process -9999999999999999999…: want a number",
		`{"process":0,"type":"ok","f":"announce","value":{"role":"leader","term":` + nines + `}}`: "value of announce: term is 99999999999999999999…, larger than 2^64-1: want a whole number from 0",
		`{"type":7,"f":"write"}`:                                                                   "line 2, column 9: type: a number: want text",
		`{"process":0,"type":"okay","f":"observe"}`:                                                `unknown type "okay"`,
		`{"process":-1,"type":"ok","f":"end"}`:                                                     "unknown process -1",
		`{"process":0,"type":"ok","f":"announce","value":{"role":"king","term":1}}`:                `unknown role "king"`,
		`{"process":0,"type":"ok","f":"announce","value":{"role":"leader","term":-1}}`:             "value of announce: term is -1: want a whole number from 0",
		`{"process":0,"type":"ok","f":"announce","value":{"role":3,"term":1}}`:                     "value of announce: role is a number: want text",
		`{"process":0,"type":"ok","f":"announce","value":{"role":"leader","term":"1"}}`:            "value of announce: term is text: want a whole number from 0",
		`{"process":0,"type":"ok","f":"announce","value":"leader"}`:                                "value of announce: text: want an object",
		`{"process":0,"type":"info","f":"stall","value":300000000}`:                                "value of stall: a number: want an object",
		`{"process":0,"type":"ok","f":"announce","value":{"role":"leader","torn":"no"}}`:           "value of announce: torn is text: want true or false",
		`{"process":"nemesis","type":"invoke","f":"inject","value":{"id":1,"nodes":"n1"}}`:         "value of inject: nodes is text: want a list",
		`{"process":0,"type":"invoke","f":"observe","value":{"role":"leader","term":1}}`:           "carries no value",
		`{"process":0,"type":"ok","f":"end"} {"process":0}`:                                        "after top-level value",
		`{"index":1,"time":1,"process":0,"type":"invoke","f":"observe","node":"n1"}`:               "before its op 0 has ended",
		`{"index":1,"time":1,"process":1,"type":"ok","f":"read","value":{"token":1,"value":1}}`:    "has none under way",
		`{"index":1,"time":1,"process":0,"type":"fail","f":"write","value":{"token":1,"value":1}}`: "has none under way",
	} {
		_, err := Parse(strings.NewReader(good + bad + "\n"))
		require.ErrorContains(t, err, want, bad)
		require.Less(t, len(err.Error()), 200, "what is quoted is short: %s", bad)
	}
}

// JSON that is not in lines is no mistake in an op: who has it is told how to make lines of it.
func TestJSONThatIsNotInLinesIsToldHowToBe(t *testing.T) {
	op := `{"index":0,"time":0,"process":0,"type":"invoke","f":"observe","node":"n1"}`
	over := strings.NewReplacer("{", "{\n  ", ",", ",\n  ", "}", "\n}").Replace(op)
	for text, way := range map[string]string{
		"[" + op + "]":           "jq -c '.[]' FILE",
		"[\n" + op + "\n]\n":     "jq -c '.[]' FILE",
		"[" + op + ",\n" + op:    "jq -c '.[]' FILE",
		over + "\n":              "jq -c . FILE",
		op + "\n" + over + "\n":  "jq -c . FILE",
		"[\n" + over + "\n]\n":   "jq -c '.[]' FILE",
		"\ufeff[\n" + op + "\n]": "jq -c '.[]' FILE",
	} {
		_, err := Parse(strings.NewReader(text))
		require.Error(t, err, text)
		require.Contains(t, hint.Of(err), way, "%v: %s", err, text)
		require.Contains(t, hint.Line(err), "one JSON object a line", text)
	}
	_, err := Parse(strings.NewReader(op + "\n" + op[:40] + "\n" + op + "\n"))
	require.ErrorIs(t, err, errMiddle)
	require.Empty(t, hint.Of(err), "it is in lines, and damaged")
}

func TestColumnsCountFromTheBeginningOfTheLine(t *testing.T) {
	_, err := Parse(strings.NewReader(`  {"type":"ok","f":"announce","value":{"role":"king","term":1}}` + "\n"))
	var s *SyntaxError
	require.ErrorAs(t, err, &s)
	require.Equal(t, 1, s.Line)
	require.Equal(t, strings.Index(`  {"type":"ok","f":"announce","value":`, `"value":`)+len(`"value":`)+1, s.Column)
}

// endless is a file without an end.
type endless struct{ b byte }

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = e.b
	}
	return len(b), nil
}

func TestALineWithoutAnEndIsRefusedWithoutBeingReadToIt(t *testing.T) {
	_, err := Parse(endless{0})
	require.EqualError(t, err, "line 1, column 1: a byte 0: want text")
	_, err = Parse(endless{' '})
	require.EqualError(t, err, "line 1, column 16777217: the line goes on after 16 MiB: want one op a line")
	_, err = Parse(io.MultiReader(bytes.NewReader(text(every())), endless{'x'}))
	require.ErrorContains(t, err, "the line goes on after 16 MiB")
}

func TestAHistoryThatDoesNotFitIntoMemoryIsRefused(t *testing.T) {
	b := text(every())
	_, err := ParseWithin(bytes.NewReader(b), int64(len(every()))*OpSize)
	require.NoError(t, err)
	_, err = ParseWithin(bytes.NewReader(b), int64(len(every())-1)*OpSize)
	require.ErrorContains(t, err, "ops are all that fits into 0 MiB of memory")
}

// sameAsDecode requires that what the scanner reads is what decode reads.
func sameAsDecode(t require.TestingT, line []byte) bool {
	var fast, slow Op
	s := scanner{names: map[string]string{}}
	if !s.op(line, &fast) {
		return false
	}
	_, err := slow.decode(line)
	require.NoError(t, err, "%s", line)
	require.Equal(t, slow, fast, "%s", line)
	return true
}

func TestTheScannerReadsWhatIsWritten(t *testing.T) {
	ops := every()
	for i := range ops {
		line := ops[i].AppendJSON(nil)
		rare := ops[i].Process < 0
		require.Equal(t, !rare, sameAsDecode(t, line), "%s", line)
		for cut := range line {
			sameAsDecode(t, line[:cut])
			for _, c := range []byte(`0-"{}, x\`) {
				changed := bytes.Clone(line)
				changed[cut] = c
				sameAsDecode(t, changed)
			}
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, op := range every() {
		f.Add(op.AppendJSON(nil))
	}
	f.Fuzz(func(t *testing.T, line []byte) { sameAsDecode(t, line) })
}

func BenchmarkParse(b *testing.B) {
	var ops []Op
	for i := range 100_000 {
		op := Op{Process: Process(i / 2 % 5), Type: Invoke, F: Observe, Node: "n3"}
		if i%2 == 1 {
			op.Type, op.View = OK, View{Role: Follower, Term: 17, Leader: "n2"}
		}
		ops = append(ops, op)
	}
	lines := text(ops)
	b.ReportAllocs()
	b.SetBytes(int64(len(lines)))
	for b.Loop() {
		if _, err := Parse(bytes.NewReader(lines)); err != nil {
			b.Fatal(err)
		}
	}
}

func TestLateArrivalsAreSortedIntoPlace(t *testing.T) {
	h, err := New([]Op{
		{Index: 0, Time: 5, Process: 0, Type: OK, F: Announce, Node: "n1"},
		{Index: 1, Time: 2, Process: 1, Type: OK, F: Announce, Node: "n2"},
		{Index: 2, Time: 5, Process: 2, Type: OK, F: Announce, Node: "n3"},
	})
	require.NoError(t, err)
	require.Equal(t, []int{1, 0, 2}, []int{h.Ops[0].Index, h.Ops[1].Index, h.Ops[2].Index})
}

// failing is a full disk after some writes.
type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("no space left")
	}
	return len(b), nil
}

func TestARecorderKeepsTheFirstFailureToWrite(t *testing.T) {
	r := NewRecorder(&failing{left: 1}, 0)
	var seen int
	r.Watch(func(*Op) { seen++ })
	for range 3 {
		r.Append(Op{Process: 0, Type: OK, F: Announce, Node: "n1"})
	}
	require.Equal(t, 3, seen)
	require.Equal(t, 3, r.Len())
	require.ErrorContains(t, r.Flush(), "no space left")
	h, err := r.History()
	require.NoError(t, err)
	require.Len(t, h.Ops, 3, "memory has them all the same")
}

// An error may quote what a node has said, however long that is: the line is one that can be read.
func TestARecorderCutsErrors(t *testing.T) {
	var b bytes.Buffer
	r := NewRecorder(&b, 0)
	for _, text := range []string{"→", "\xff"} {
		r.Append(Op{Type: Invoke, F: Observe, Node: "n1"})
		r.Record(&Op{Type: Fail, F: Observe, Node: "n1", Error: strings.Repeat(text, 8<<20)})
	}
	require.NoError(t, r.Flush())
	own, err := r.History()
	require.NoError(t, err)
	read, err := Parse(&b)
	require.NoError(t, err)
	require.Len(t, read.Ops, 4)
	require.Equal(t, strings.Repeat("→", longestError/len("→"))+"…", read.Ops[1].Error)
	for i := range own.Ops {
		require.Equal(t, own.Ops[i].Error, read.Ops[i].Error)
	}
}

func TestARecorderHoldsBackUntilFlush(t *testing.T) {
	var b bytes.Buffer
	r := NewRecorder(&b, 1<<10)
	r.Append(Op{Type: OK, F: Announce, Node: "n1"})
	require.Zero(t, b.Len())
	require.NoError(t, r.Flush())
	require.Equal(t, 1, bytes.Count(b.Bytes(), []byte("\n")))
}

func TestARecorderWithoutAWriterKeepsAllInMemory(t *testing.T) {
	r := NewRecorder(nil, 0)
	r.Reserve(2)
	for range 3 {
		r.Append(Op{Type: OK, F: Announce, Node: "n1"})
	}
	require.NoError(t, r.Flush())
	h, err := r.History()
	require.NoError(t, err)
	require.Len(t, h.Ops, 3)
}

func FuzzParse(f *testing.F) {
	f.Add(text(every()))
	f.Add([]byte(`{"index":0,"time":0,"process":"nemesis","type":"ok","f":"inject","value":{}}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := Parse(bytes.NewReader(b))
		if err != nil {
			return
		}
		again, err := Parse(bytes.NewReader(text(h.Ops)))
		if err == nil { // what Append numbers anew may pair up otherwise, but must stay readable
			require.Len(t, again.Ops, len(h.Ops))
		}
	})
}

// FuzzCompressed cuts and spoils compressed histories: what is read of one that was cut off is what it began with.
func FuzzCompressed(f *testing.F) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for line := range bytes.Lines(text(every())) {
		z.Write(line)
		z.Flush()
	}
	require.NoError(f, z.Close())
	for cut := 0; cut <= b.Len(); cut += 61 { // a seed takes a good part of a millisecond
		f.Add(b.Bytes()[:cut], 0, byte(0))
		f.Add(b.Bytes(), cut, byte(cut))
	}
	f.Fuzz(func(t *testing.T, packed []byte, at int, flip byte) {
		if at >= 0 && at < len(packed) {
			packed = bytes.Clone(packed)
			packed[at] ^= flip
		}
		h, err := ParseWithin(bytes.NewReader(packed), 64<<20)
		if err != nil || len(packed) == 0 {
			return
		}
		for cut := len(packed) - 1; cut > 2 && bytes.HasPrefix(packed, []byte("\x1f\x8b")); cut /= 8 {
			part, err := ParseWithin(bytes.NewReader(packed[:cut]), 64<<20)
			require.Error(t, err)
			require.LessOrEqual(t, len(part.Ops), len(h.Ops))
		}
	})
}

func BenchmarkAppendJSON(b *testing.B) {
	op := Op{Index: 123456, Time: 12345678901, Process: 3, Type: OK, F: Observe, Node: "n3", View: View{Role: Leader, Term: 17, Leader: "n3", Tenure: 2}}
	buf := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		buf = op.AppendJSON(buf[:0])
	}
}

// TestStreamsTellDisorder has the lines of a history in any order. Whatever seems to be wrong with it first, it is told to be in disorder.
func TestStreamsTellDisorder(t *testing.T) {
	lines := []string{
		`{"index":0,"time":1,"process":1,"type":"invoke","f":"observe","node":"n1"}`,
		`{"index":1,"time":2,"process":1,"type":"ok","f":"observe","node":"n1","value":{"role":"leader","term":1}}`,
		`{"index":2,"time":3,"process":1,"type":"invoke","f":"observe","node":"n2"}`,
		`{"index":3,"time":4,"process":1,"type":"fail","f":"observe","node":"n2"}`,
		`{"index":4,"time":5,"process":1,"type":"invoke","f":"observe","node":"n1"}`,
	}
	var tried int
	var permute func(rest, so []string)
	permute = func(rest, so []string) {
		for i := range rest {
			permute(slices.Delete(slices.Clone(rest), i, i+1), append(slices.Clone(so), rest[i]))
		}
		if len(rest) > 0 {
			return
		}
		tried++
		err := Stream(strings.NewReader(strings.Join(so, "\n")), func(*Op) error { return nil })
		if slices.Equal(so, lines) {
			require.NoError(t, err)
			return
		}
		require.ErrorIs(t, err, ErrDisorder, so)
	}
	permute(lines, nil)
	require.Equal(t, 120, tried)

	err := Stream(strings.NewReader(lines[0]+"\n\n"+lines[3]+"\n"), func(*Op) error { return nil })
	const wrong = "line 3, column 1: op 3: process 1 ends observe of n2, and had invoked that of n1 with op 0"
	require.EqualError(t, err, wrong)
	err = Stream(strings.NewReader(lines[0]+"\n\n"+lines[3]+"\n"+lines[4][:20]), func(*Op) error { return nil })
	require.EqualError(t, err, wrong, "who judges what comes before a cut takes this for less than there is")
}
