package report

import (
	"slices"
	"time"

	"recount/harness/record"
	"recount/history"
)

// Timeline is what happened in a run, as it is drawn: who was what, who claimed to lead, what was broken, what was
// written, and where the evidence lies.
type Timeline struct {
	End        time.Duration
	Names      []string
	Nodes      []Lane
	Claims     []Claim // in order of time
	Both       []Span  // when two nodes certainly claimed to lead at once
	Sharp      []bool  // of each of those, whether it was in one term
	Links      []linkLane
	Clocks     []clockLane // of the nodes whose clocks were read
	Faults     []FaultBar
	Writes     []write
	Requests   []request // of clients
	Stalls     []Span    // the machine stood still
	Violations []violation
	Written    bool // somebody wrote to the guarded resource
}

// Lane is one node's line.
type Lane struct {
	Name     string
	Segments []Segment
	Off      []Span // its links did not reach a majority
	Alarms   []alarm
	Colour   int // of its leaderships; -1 for a node that never led
}

// alarm is a line of a node's log that it writes only if something is wrong with it.
type alarm struct {
	At   time.Duration
	Line string
}

// FaultBar is one fault from its inject to its heal.
type FaultBar struct {
	Span
	history.Fault
	Took  history.Type    // OK: seen to have taken effect; Fail: it has not; Info: nobody knows
	Begun time.Duration   // when the nemesis set out to inject it: what happens from then on may be its doing
	Turns []time.Duration // when it took its next shape
	Error string
	Row   int
}

// write is one write to the guarded resource.
type write struct {
	At    time.Duration
	Node  int // who wrote; -1 where nobody knows
	Token uint64
	Kind  writeKind
	Op    int
}

// Stale reports whether it was accepted though a higher token had been.
func (w *write) Stale() bool { return w.Kind == stale }

type writeKind uint8

const (
	accepted writeKind = iota
	stale              // accepted, though a higher token had been accepted before it began
	rejected
	unanswered
)

var writeWords = [...]string{accepted: "accepted", stale: "accepted although stale", rejected: "rejected", unanswered: "no answer"}

// violation is the evidence of one violation.
type violation struct {
	Span
	N       int // as numbered in the report, from 1
	Verdict *record.Verdict
	Marks   []mark
}

// Tone is the style of a violation: red is kept for what fails the run.
func (f *violation) Tone() string {
	if f.Verdict.Meaning().Fails() {
		return "broken"
	}
	return "weak"
}

// mark is one op of the evidence, in its place.
type mark struct {
	At    time.Duration
	Op    int // its index
	Node  int // in whose lane; -1 for none
	Write bool
	Fault int // the ID of a fault; 0 for none
}

// maxMarks is how many ops of one violation are marked.
const maxMarks = 200

// colour gives the nodes that ever led a colour each, in the order in which they first did.
func (tl *Timeline) colour() {
	next := 0
	for _, c := range tl.Claims {
		if n := &tl.Nodes[c.Node]; n.Colour < 0 {
			n.Colour = next % LeaderColours
			next++
		}
	}
}

// pack puts spans, which are in order of their starts, into rows so that none hides another; what does not fit into the
// last row shares it. Spans of one owner stay in one row where they can; without owners the first free row is taken.
func pack(spans []Span, owners []int, gap time.Duration, rows int) []int {
	var ends []time.Duration
	at, last := make([]int, len(spans)), map[int]int{}
	for i, s := range spans {
		row := slices.IndexFunc(ends, func(end time.Duration) bool { return end <= s.From })
		if owners != nil {
			if own, known := last[owners[i]]; known && ends[own] <= s.From {
				row = own
			}
		}
		if row < 0 {
			if row = len(ends); row < rows {
				ends = append(ends, 0)
			} else {
				row = rows - 1
			}
		}
		ends[row] = max(ends[row], s.To+gap)
		at[i] = row
		if owners != nil {
			last[owners[i]] = row
		}
	}
	return at
}
