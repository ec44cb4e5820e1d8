package serve

import (
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"recount/harness/record"
	"recount/history"
)

// A run as a trace of Perfetto's, in its native format, which ui.perfetto.dev opens: a track for each node with its roles, one for each
// fault, one for the violations, and a counter for the highest term. The numbers of fields are those of perfetto_trace.proto.

const (
	tracePacket = 1 // of Trace

	packetTimestamp  = 8 // of TracePacket
	packetSequence   = 10
	packetEvent      = 11
	packetFlags      = 13
	packetDescriptor = 60

	trackUUID    = 1 // of TrackDescriptor
	trackName    = 2
	trackParent  = 5
	trackCounter = 8

	eventAnnotation = 4 // of TrackEvent
	eventType       = 9
	eventTrack      = 11
	eventCategories = 22
	eventName       = 23
	eventCounter    = 30

	annotationText = 6 // of DebugAnnotation
	annotationName = 10

	sliceBegin, sliceEnd, counter = 1, 2, 4 // TrackEvent.Type

	stateCleared = 1 // TracePacket.SequenceFlags: the first packet of a sequence
)

// trace is a trace being written.
type trace struct {
	b      []byte
	begun  bool
	open   map[uint64]bool // tracks with a slice that has not ended
	tracks map[string]uint64
}

func writePerfetto(w io.Writer, r *record.Run) error {
	t := &trace{open: map[uint64]bool{}, tracks: map[string]uint64{}}
	root := t.track("Recount: "+r.Title, 0, false)
	nodes := map[string]uint64{}
	for _, n := range r.Nodes {
		nodes[n] = t.track(n, root, false)
	}
	terms := t.track("highest term", root, true)
	faults := t.track("faults", root, false)
	violations := t.track("violations", root, false)
	views, last, highest := map[string]history.View{}, time.Duration(0), uint64(0)
	for i := range r.History.Ops {
		op := &r.History.Ops[i]
		last = op.Time
		switch op.F {
		case history.Observe, history.Announce:
			track, known := nodes[op.Node]
			if was, seen := views[op.Node]; !known || op.Type != history.OK || op.View.Torn || seen && was == op.View {
				continue
			}
			views[op.Node] = op.View
			t.end(track, op.Time)
			name := op.View.Role.String()
			if op.View.Term > 0 {
				name += fmt.Sprintf(" · term %d", op.View.Term)
			}
			t.begin(track, op.Time, name, "view", [2]string{"leader", op.View.Leader}, [2]string{"op", fmt.Sprint(op.Index)})
			if op.View.Term > highest {
				highest = op.View.Term
				t.count(terms, op.Time, highest)
			}
		case history.Exit:
			delete(views, op.Node)
			t.end(nodes[op.Node], op.Time)
		case history.Inject, history.Change, history.Heal:
			if op.Fault == nil || op.Type == history.Invoke || op.Type == history.Fail {
				continue
			}
			name := op.Fault.Title()
			track := t.track(fmt.Sprintf("fault %d", op.Fault.ID), faults, false)
			if op.F != history.Change {
				t.end(track, op.Time)
			}
			if op.F == history.Inject {
				t.begin(track, op.Time, name, "fault", [2]string{"op", fmt.Sprint(op.Index)})
			}
			for _, p := range op.Fault.Procs {
				track, known := nodes[p.Node]
				switch _, seen := views[p.Node]; {
				case !known:
				case p.State != history.Up:
					t.end(track, op.Time)
					t.begin(track, op.Time, string(p.State), "process")
					delete(views, p.Node)
				case !seen: // it may have answered before the nemesis saw it
					t.end(track, op.Time)
				}
			}
		}
	}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if kindOf(v) == "" {
			continue
		}
		track := t.track(v.Property, violations, false)
		t.begin(track, v.From, v.Property, "violation", [2]string{"why", v.Why}, [2]string{"kind", string(kindOf(v))})
		t.end(track, max(v.To, v.From))
	}
	for _, track := range slices.Sorted(maps.Keys(t.open)) {
		t.end(track, last)
	}
	_, err := w.Write(t.b)
	return err
}

// track returns the track of a name below another, and describes it where it is new.
func (t *trace) track(name string, parent uint64, counts bool) uint64 {
	key := fmt.Sprint(parent, " ", name)
	if id, known := t.tracks[key]; known {
		return id
	}
	h := fnv.New64a()
	h.Write([]byte(key)) // never fails
	id := h.Sum64()>>1 | 1
	t.tracks[key] = id
	var d []byte
	d = number(d, trackUUID, id)
	d = text(d, trackName, name)
	if parent != 0 {
		d = number(d, trackParent, parent)
	}
	if counts {
		d = message(d, trackCounter, nil)
	}
	t.packet(message(nil, packetDescriptor, d))
	return id
}

func (t *trace) begin(track uint64, at time.Duration, name, category string, notes ...[2]string) {
	e := number(nil, eventType, sliceBegin)
	e = number(e, eventTrack, track)
	e = text(e, eventCategories, category)
	e = text(e, eventName, name)
	for _, n := range notes {
		if n[1] != "" {
			e = message(e, eventAnnotation, text(text(nil, annotationName, n[0]), annotationText, n[1]))
		}
	}
	t.event(at, e)
	t.open[track] = true
}

// end ends the slice of a track, if one is open.
func (t *trace) end(track uint64, at time.Duration) {
	if t.open[track] {
		t.event(at, number(number(nil, eventType, sliceEnd), eventTrack, track))
		delete(t.open, track)
	}
}

func (t *trace) count(track uint64, at time.Duration, n uint64) {
	t.event(at, number(number(number(nil, eventType, counter), eventTrack, track), eventCounter, n))
}

func (t *trace) event(at time.Duration, e []byte) {
	t.packet(message(number(nil, packetTimestamp, uint64(at)), packetEvent, e))
}

// packet appends a packet. All are of one sequence, whose first says so.
func (t *trace) packet(p []byte) {
	p = number(p, packetSequence, 1)
	if !t.begun {
		p, t.begun = number(p, packetFlags, stateCleared), true
	}
	t.b = message(t.b, tracePacket, p)
}

func number(b []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

func text(b []byte, field protowire.Number, s string) []byte {
	return message(b, field, []byte(strings.ToValidUTF8(s, "�")))
}

func message(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}
