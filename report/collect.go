package report

import (
	"cmp"
	"slices"
	"time"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
)

// How a timeline is read out of a history, op by op.

// Trace reads a run's timeline out of its history.
func Trace(r *record.Run) *Timeline {
	tl := &Timeline{Names: r.Nodes}
	h := r.History
	if h == nil {
		h = &history.History{}
	}
	for i := range h.Ops {
		op := &h.Ops[i]
		tl.End = max(tl.End, op.Time)
		if len(r.Nodes) == 0 && op.Node != "" && !slices.Contains(tl.Names, op.Node) {
			tl.Names = append(tl.Names, op.Node)
		}
	}
	track := func() *tracker { return newTracker(0) }
	if s := h.Setup(); s != nil {
		track = func() *tracker { return newTracker(s.Bounds.Poll) }
		if s.Standing {
			track = newListener
		}
		if len(r.Nodes) == 0 {
			tl.Names = s.Nodes
		}
	}
	c := &collector{Timeline: tl, h: h, byName: map[string]int{}, bars: map[int]int{}, alarms: map[int][]alarm{}, positions: map[int]int{}}
	for i, n := range tl.Names {
		c.byName[n] = i
		c.tracks = append(c.tracks, track())
	}
	for i := range h.Ops {
		c.take(i)
	}
	for i, k := range c.tracks {
		segs := k.finish(tl.End)
		tl.Nodes = append(tl.Nodes, Lane{Name: tl.Names[i], Segments: segs, Alarms: c.alarms[i], Colour: -1})
		tl.Claims = append(tl.Claims, claims(i, segs)...)
	}
	slices.SortStableFunc(tl.Claims, func(a, b Claim) int { return cmp.Compare(a.From, b.From) })
	tl.colour()
	tl.Both, tl.Sharp = overlaps(tl.Claims)
	tl.Links = network(c.links, tl.Names, tl.End)
	for i, off := range cutOff(c.links, len(tl.Names), tl.End) {
		tl.Nodes[i].Off = off
	}
	c.evidence(ranked(r))
	return tl
}

// collector takes the ops one by one.
type collector struct {
	*Timeline
	h         *history.History
	byName    map[string]int
	tracks    []*tracker
	links     []linkChange
	bars      map[int]int     // of a fault's ID
	positions map[int]int     // of an op's index
	alarms    map[int][]alarm // of each node
	tokens    []granted       // the highest tokens accepted, each when it was
}

type granted struct {
	at    time.Duration
	token uint64
}

func (c *collector) take(i int) {
	op := &c.h.Ops[i]
	c.positions[op.Index] = i
	if asks(op) {
		c.request(i)
		return
	}
	node, known := c.byName[op.Node]
	begun := op.Time
	if o := c.h.Other(i); o >= 0 && op.Type != history.Invoke {
		begun = c.h.Ops[o].Time
	}
	switch op.F {
	case history.Observe:
		if known && op.Type == history.OK {
			c.tracks[node].observe(begun, op.Time, op.View)
		}
	case history.Announce:
		if known {
			c.tracks[node].announce(op.Time, op.View)
		}
	case history.Exit:
		if !known {
			break
		}
		state := Exited
		if op.Fault != nil {
			state = op.Fault.Procs[0].State
		}
		c.tracks[node].become(op.Time, state)
	case history.Alarm:
		if known {
			c.alarms[node] = append(c.alarms[node], alarm{op.Time, op.Error})
		}
	case history.ReadClock:
		if known {
			c.clock(node, clockSample{op.Time, op.Reading})
		}
	case history.Stall:
		c.Stalls = append(c.Stalls, Span{max(0, op.Time-time.Duration(op.Access.Value)), op.Time})
	case history.Write:
		if !known { // as where a resource tells of what it took, and not from whom
			node = -1
		}
		if op.Type != history.Invoke {
			c.write(op, node, begun)
		} else {
			c.Written = true
			if c.h.Other(i) < 0 {
				c.Writes = append(c.Writes, write{op.Time, node, op.Access.Token, unanswered, op.Index})
			}
		}
	case history.Inject, history.Change, history.Heal:
		if op.Fault != nil {
			c.fault(i)
		}
	}
}

func (c *collector) clock(node int, s clockSample) {
	i := slices.IndexFunc(c.Clocks, func(l clockLane) bool { return l.Node >= node })
	if i < 0 {
		i = len(c.Clocks)
	}
	if i == len(c.Clocks) || c.Clocks[i].Node != node {
		c.Clocks = slices.Insert(c.Clocks, i, clockLane{Node: node})
	}
	c.Clocks[i].Samples = append(c.Clocks[i].Samples, s)
}

func (c *collector) write(op *history.Op, node int, begun time.Duration) {
	w := write{op.Time, node, op.Access.Token, unanswered, op.Index}
	switch op.Type {
	case history.OK:
		w.Kind = accepted
		highest := uint64(0)
		for k := len(c.tokens) - 1; k >= 0; k-- {
			if c.tokens[k].at < begun {
				highest = c.tokens[k].token
				break
			}
		}
		if w.Token < highest {
			w.Kind = stale
		}
		if n := len(c.tokens); n == 0 || w.Token > c.tokens[n-1].token {
			c.tokens = append(c.tokens, granted{op.Time, w.Token})
		}
	case history.Fail:
		w.Kind = rejected
	}
	c.Writes = append(c.Writes, w)
}

// fault takes an op of the nemesis. What it changes holds from the op's end; what may have changed, too, marked unsure.
func (c *collector) fault(i int) {
	op := &c.h.Ops[i]
	at, known := c.bars[op.Fault.ID]
	if !known {
		at = len(c.Faults)
		c.bars[op.Fault.ID] = at
		c.Faults = append(c.Faults, FaultBar{Span: Span{op.Time, c.End}, Fault: *op.Fault, Took: history.Info, Begun: op.Time})
	}
	bar := &c.Faults[at]
	if op.Type == history.Invoke {
		for _, p := range op.Fault.Procs {
			if n, ok := c.byName[p.Node]; ok && p.State == history.Up {
				c.tracks[n].reviving = true
			}
		}
		if c.h.Other(i) >= 0 {
			return
		}
	}
	switch op.F {
	case history.Inject:
		if !op.Fault.HandsOver() { // which is all over when it has been asked for
			bar.From = op.Time
		}
		bar.Took, bar.Error, bar.Changes = op.Type, op.Error, op.Fault.Changes
		if op.Type == history.Fail || op.Fault.HandsOver() {
			bar.To = op.Time
		}
		if op.Type == history.Invoke {
			bar.Took = history.Info
		}
	case history.Change:
		if op.Fault.Found { // it has not moved
			bar.Error += "; what came true: " + op.Fault.Came()
			break
		}
		bar.Turns = append(bar.Turns, op.Time)
	case history.Heal:
		if op.Type != history.Fail && !bar.HandsOver() {
			bar.To = op.Time
		}
		bar.Error, bar.Idle = cmp.Or(bar.Error, op.Error), op.Fault.Idle
	}
	if op.Type == history.Fail {
		return
	}
	for _, l := range op.Fault.Links {
		a, ok := c.byName[l.From]
		b, also := c.byName[l.To]
		if ok && also {
			c.links = append(c.links, linkChange{op.Time, pair{a, b}, l.LinkState, op.Type != history.OK})
		}
	}
	for _, p := range op.Fault.Procs {
		if n, ok := c.byName[p.Node]; ok {
			c.tracks[n].become(op.Time, p.State)
		}
	}
}

// evidence puts the evidence of each violation in its place.
func (c *collector) evidence(vs []*record.Verdict) {
	for _, v := range vs {
		if v.Verdict != checkers.Invalid {
			continue
		}
		f := violation{Span: Span{v.From, v.To}, N: len(c.Violations) + 1, Verdict: v}
		for k, index := range v.Ops {
			i, ok := c.positions[index]
			if !ok {
				continue
			}
			op := &c.h.Ops[i]
			if v.To == 0 {
				if k == 0 {
					f.From = op.Time
				}
				f.To = max(f.To, op.Time)
			}
			if len(f.Marks) < maxMarks {
				f.Marks = append(f.Marks, c.mark(op))
			}
		}
		c.Violations = append(c.Violations, f)
	}
}

func (c *collector) mark(op *history.Op) mark {
	m := mark{At: op.Time, Op: op.Index, Node: -1}
	switch op.F {
	case history.Write, history.Read:
		m.Write = true
	case history.Inject, history.Change, history.Heal:
		if op.Fault != nil {
			m.Fault = op.Fault.ID
		}
	default:
		if n, ok := c.byName[op.Node]; ok {
			m.Node = n
		}
	}
	return m
}
