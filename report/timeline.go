package report

import (
	"slices"
	"strings"
	"time"

	"recount/harness/record"
	"recount/history"
)

// timeline is what happened in a run, as it is drawn: who was what, who claimed to lead, what was broken, what was
// written, and where the evidence lies.
type timeline struct {
	End        time.Duration
	Names      []string
	Nodes      []nodeLane
	Claims     []claim // in order of time
	Both       []span  // when two nodes certainly claimed to lead at once
	Sharp      []bool  // of each of those, whether it was in one term
	Links      []linkLane
	Clocks     []clockLane // of the nodes whose clocks were read
	Faults     []faultBar
	Writes     []write
	Stalls     []span // the machine stood still
	Violations []violation
	Written    bool // somebody wrote to the guarded resource
}

// nodeLane is one node's line.
type nodeLane struct {
	Name     string
	Segments []segment
	Off      []span // its links did not reach a majority
	Colour   int    // of its leaderships; -1 for a node that never led
}

// faultBar is one fault from its inject to its heal.
type faultBar struct {
	span
	history.Fault
	Took  history.Type    // OK: seen to have taken effect; Fail: it has not; Info: nobody knows
	Turns []time.Duration // when it took its next shape
	Error string
	Row   int
}

// write is one write to the guarded resource.
type write struct {
	At    time.Duration
	Node  int // who wrote
	Token uint64
	Kind  writeKind
	Op    int
}

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
	span
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
func (tl *timeline) colour() {
	next := 0
	for _, c := range tl.Claims {
		if n := &tl.Nodes[c.Node]; n.Colour < 0 {
			n.Colour = next % len(identities)
			next++
		}
	}
}

// pack puts spans, which are in order of their starts, into rows so that none hides another; what does not fit into the
// last row shares it. Spans of one owner stay in one row where they can; without owners the first free row is taken.
func pack(spans []span, owners []int, gap time.Duration, rows int) []int {
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

// title names a fault with its nodes: "cut-link n1 n3".
func (f *faultBar) title() string {
	return strings.Join(append([]string{f.Name}, f.Nodes...), " ")
}
