package serve

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"recount/harness/record"
	"recount/history"
)

// perfetto is the part of perfetto_trace.proto that Recount writes, as its authors number it: the fields and numbers are those of
// protos/perfetto/trace in github.com/google/perfetto, as descriptors.
const perfetto = `
name: "perfetto_trace.proto" package: "perfetto.protos" syntax: "proto2"
message_type { name: "Trace"
  field { name: "packet" number: 1 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".perfetto.protos.TracePacket" } }
message_type { name: "TracePacket"
  field { name: "timestamp" number: 8 label: LABEL_OPTIONAL type: TYPE_UINT64 }
  field { name: "trusted_packet_sequence_id" number: 10 label: LABEL_OPTIONAL type: TYPE_UINT32 }
  field { name: "track_event" number: 11 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".perfetto.protos.TrackEvent" }
  field { name: "sequence_flags" number: 13 label: LABEL_OPTIONAL type: TYPE_UINT32 }
  field { name: "track_descriptor" number: 60 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".perfetto.protos.TrackDescriptor" } }
message_type { name: "TrackDescriptor"
  field { name: "uuid" number: 1 label: LABEL_OPTIONAL type: TYPE_UINT64 }
  field { name: "name" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING }
  field { name: "parent_uuid" number: 5 label: LABEL_OPTIONAL type: TYPE_UINT64 }
  field { name: "counter" number: 8 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".perfetto.protos.CounterDescriptor" } }
message_type { name: "CounterDescriptor" }
message_type { name: "TrackEvent"
  field { name: "debug_annotations" number: 4 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".perfetto.protos.DebugAnnotation" }
  field { name: "type" number: 9 label: LABEL_OPTIONAL type: TYPE_ENUM type_name: ".perfetto.protos.Type" }
  field { name: "track_uuid" number: 11 label: LABEL_OPTIONAL type: TYPE_UINT64 }
  field { name: "categories" number: 22 label: LABEL_REPEATED type: TYPE_STRING }
  field { name: "name" number: 23 label: LABEL_OPTIONAL type: TYPE_STRING }
  field { name: "counter_value" number: 30 label: LABEL_OPTIONAL type: TYPE_INT64 } }
message_type { name: "DebugAnnotation"
  field { name: "string_value" number: 6 label: LABEL_OPTIONAL type: TYPE_STRING }
  field { name: "name" number: 10 label: LABEL_OPTIONAL type: TYPE_STRING } }
enum_type { name: "Type"
  value { name: "TYPE_UNSPECIFIED" number: 0 } value { name: "TYPE_SLICE_BEGIN" number: 1 } value { name: "TYPE_SLICE_END" number: 2 }
  value { name: "TYPE_INSTANT" number: 3 } value { name: "TYPE_COUNTER" number: 4 } }
`

func TestPerfettoReadsTheTrace(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	var b bytes.Buffer
	require.NoError(t, writePerfetto(&b, r))
	var definition descriptorpb.FileDescriptorProto
	require.NoError(t, prototext.Unmarshal([]byte(perfetto), &definition))
	file, err := protodesc.NewFile(&definition, nil)
	require.NoError(t, err)
	read := dynamicpb.NewMessage(file.Messages().ByName("Trace"))
	require.NoError(t, proto.Unmarshal(b.Bytes(), read))

	get := func(m protoreflect.Message, name protoreflect.Name) protoreflect.Value {
		return m.Get(m.Descriptor().Fields().ByName(name))
	}
	has := func(m protoreflect.Message, name protoreflect.Name) bool {
		return m.Has(m.Descriptor().Fields().ByName(name))
	}
	names, depth := map[uint64]string{}, map[uint64]int{}
	var leads []string
	var last uint64
	packets := get(read, "packet").List()
	for i := range packets.Len() {
		p := packets.Get(i).Message()
		require.Empty(t, p.GetUnknown())
		require.EqualValues(t, 1, get(p, "trusted_packet_sequence_id").Uint())
		if d := get(p, "track_descriptor").Message(); has(p, "track_descriptor") {
			require.Empty(t, d.GetUnknown())
			names[get(d, "uuid").Uint()] = get(d, "name").String()
			if has(d, "parent_uuid") {
				require.Contains(t, names, get(d, "parent_uuid").Uint(), "a parent comes before its children")
			}
			continue
		}
		e := get(p, "track_event").Message()
		require.Empty(t, e.GetUnknown())
		track := get(e, "track_uuid").Uint()
		for k := range get(e, "debug_annotations").List().Len() {
			require.Empty(t, get(e, "debug_annotations").List().Get(k).Message().GetUnknown())
		}
		require.Contains(t, names, track)
		last = max(last, get(p, "timestamp").Uint())
		switch get(e, "type").Enum() {
		case 1:
			depth[track]++
			if name := get(e, "name").String(); strings.HasPrefix(name, "leader") {
				leads = append(leads, names[track]+" "+name)
			}
		case 2:
			depth[track]--
		case 4:
			require.Equal(t, "highest term", names[track])
		}
		require.Contains(t, []int{0, 1}, depth[track], "slices of one track follow each other")
	}
	for track, open := range depth {
		require.Zero(t, open, names[track])
	}
	require.Contains(t, leads, "n3 leader · term 1")
	require.Greater(t, len(leads), 70, "leadership bounced")
	require.LessOrEqual(t, last, uint64(r.History.Ops[len(r.History.Ops)-1].Time))
}

// A run that ends while several nodes and faults are at it has many slices left to end.
func TestATraceIsTheSameEachTime(t *testing.T) {
	r := simulate(t, t.TempDir(), "ping-pong", 7)
	r.History.Ops = r.History.Ops[:len(r.History.Ops)/2]
	var first bytes.Buffer
	require.NoError(t, writePerfetto(&first, r))
	for range 10 {
		var b bytes.Buffer
		require.NoError(t, writePerfetto(&b, r))
		require.True(t, bytes.Equal(first.Bytes(), b.Bytes()))
	}
}

// A fault that goes on may end and start processes again and again.
func TestATraceHasWhatChangesOfAFaultDo(t *testing.T) {
	ops := []history.Op{{F: history.Announce, Type: history.OK, Node: "n1", View: history.View{Role: history.Leader, Term: 1}}}
	for i, state := range []history.ProcState{history.Down, history.Up, history.Crashed} {
		fault := &history.Fault{ID: 1, Name: "kill", Changes: history.Changes{Procs: []history.Proc{{Node: "n1", State: state}}}}
		ops = append(ops, history.Op{Index: i + 1, Time: time.Duration(i+1) * time.Second, Process: history.Nemesis, F: history.Change, Type: history.OK, Fault: fault})
	}
	var b bytes.Buffer
	require.NoError(t, writePerfetto(&b, &record.Run{Nodes: []string{"n1"}, History: &history.History{Ops: ops}}))
	require.Equal(t, []int{1, 1}, []int{strings.Count(b.String(), "down"), strings.Count(b.String(), "crashed")})
}

func TestCSVHasEveryOpAndNoFormula(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	r.History.Ops[5].Error = "=HYPERLINK(1)"
	var text []byte
	for i := range r.History.Ops {
		text = append(r.History.Ops[i].AppendJSON(text), '\n')
	}
	for _, end := range []string{"", `{"index":`} { // whole, and cut off
		var b bytes.Buffer
		require.NoError(t, writeCSV(&b, strings.NewReader(string(text)+end)))
		rows, err := csv.NewReader(&b).ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 1+len(r.History.Ops))
		require.Equal(t, "'=HYPERLINK(1)", rows[6][10])
		require.Equal(t, string(history.Begin), rows[1][4])
	}
}

func TestCSVOfManyOpsKeepsNone(t *testing.T) {
	var lines bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&lines, `{"index":%d,"time":%d,"process":1,"type":"invoke","f":"observe","node":"n1"}`+"\n", 2*i, 2*i)
		fmt.Fprintf(&lines, `{"index":%d,"time":%d,"process":1,"type":"fail","f":"observe","node":"n1"}`+"\n", 2*i+1, 2*i+1)
	}
	read, most := 0, 0
	rows := 0
	err := writeCSV(writerFunc(func(b []byte) {
		rows += bytes.Count(b, []byte("\n"))
		most = max(most, read-rows)
	}), readerFunc(func(b []byte) (int, error) {
		n, err := lines.Read(b[:min(len(b), 1000)])
		read += bytes.Count(b[:n], []byte("\n"))
		return n, err
	}))
	require.NoError(t, err)
	require.Equal(t, 4001, rows)
	require.Less(t, most, 200, "ops that were read and are not written yet")
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
