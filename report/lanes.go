package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"recount/history"
)

// What the nodes did: the upper half of the picture.

// How the picture is kept from growing without bounds with the run: what is too much is left out, the shortest first, and
// the picture says so.
const (
	maxSegments  = 24_000 // of all nodes; more are merged
	maxClaims    = 6_000
	maxWrites    = 6_000
	maxFaults    = 3_000
	maxTurns     = 6_000 // of all faults
	maxSpans     = 2_000 // of one lane
	maxClaimRows = 6
	maxFaultRows = 8
)

// longest leaves out the shortest of too many things, and remembers that it did.
func longest[T any](p *picture, what string, things []T, limit int, when func(T) Span) []T {
	if len(things) <= limit {
		return things
	}
	lengths := make([]time.Duration, len(things))
	for i, t := range things {
		lengths[i] = when(t).Length()
	}
	slices.Sort(lengths)
	least := lengths[len(lengths)-limit]
	kept := make([]T, 0, limit)
	for _, t := range things {
		if when(t).Length() >= least && len(kept) < limit {
			kept = append(kept, t)
		}
	}
	p.omit(what, len(things)-len(kept), len(things))
	return kept
}

func itself(s Span) Span { return s }

// omit remembers that so many of all were not drawn.
func (p *picture) omit(what string, left, all int) {
	p.omitted = append(p.omitted, fmt.Sprintf("%d of %d %s", left, all, what))
}

// paintViolations draws a row for each violation: its name, a bracket over its time, a tick for each op of the evidence.
func (p *picture) paintViolations(y float64) float64 {
	if len(p.tl.Violations) == 0 {
		return y
	}
	y = p.section(y, "violations")
	for i := range p.tl.Violations {
		f := &p.tl.Violations[i]
		class := f.Tone()
		const h = 22.0
		var b boxes
		from, to := ms(f.From), ms(f.To)
		b.rect("bracket "+class, from, to, 15, 4)
		for _, m := range f.Marks {
			b.line("evidence "+class, ms(m.At), 11, 8)
		}
		p.flush(&p.shapes, y, &b)
		fmt.Fprintf(&p.fixed, `<g class="badge %s"><circle cx="20" cy="%s" r="8"/><text x="20" y="%s">%d</text></g>`,
			class, num(y+h/2), num(y+h/2+3.8), f.N)
		p.labels = append(p.labels, label{
			From: from, To: to, Beyond: math.Inf(1), Y: y + 9, Class: "flagname " + class,
			Texts: []string{f.Verdict.Property},
		})
		lines := []string{
			fmt.Sprintf("%d  %s: %v, %s", f.N, f.Verdict.Property, f.Verdict.Verdict, meaning(f.Verdict)),
			f.Verdict.Why,
		}
		p.hovers = append(p.hovers, hover{y, h, []hoverItem{{from, to, lines}}})
		y += h + 2
	}
	return y
}

// paintLeaders draws who claimed to lead, and below it when several did at once.
func (p *picture) paintLeaders(y float64) float64 {
	tl := p.tl
	y = p.section(y, "leaders")
	cs := longest(p, "leaderships", tl.Claims, maxClaims, func(c Claim) Span { return c.Span })
	p.claims = cs
	spans, owners := make([]Span, len(cs)), make([]int, len(cs))
	for i, c := range cs {
		spans[i], owners[i] = c.Span, c.Node
	}
	const h, step = 18.0, 20.0
	rows := pack(spans, owners, 0, maxClaimRows)
	hovers := make([]hover, maxClaimRows)
	var b boxes
	used := 1
	for i, c := range cs {
		row := float64(rows[i])
		used = max(used, rows[i]+1)
		b.rect(fmt.Sprintf("lead id%d", tl.Nodes[c.Node].Colour), ms(c.From), ms(c.To), row*step, h)
		name := tl.Names[c.Node]
		texts := []string{name}
		line := name + " claims to lead"
		if c.View.Term > 0 {
			texts = []string{fmt.Sprintf("%s · %d", name, c.View.Term), name}
			line += fmt.Sprintf(" in term %d", c.View.Term)
		}
		p.labels = append(p.labels, label{From: ms(c.From), To: ms(c.To), Y: y + row*step + 13, Class: "on", Texts: texts})
		hovers[rows[i]].Items = append(hovers[rows[i]].Items, hoverItem{ms(c.From), ms(c.To), []string{line}})
	}
	for i := range used {
		hovers[i].Y, hovers[i].H = y+float64(i)*step, h
	}
	p.hovers = append(p.hovers, hovers[:used]...)
	bottom := float64(used) * step
	var calm, sharp []Span
	for i, o := range tl.Both {
		if tl.Sharp[i] {
			sharp = append(sharp, o)
		} else {
			calm = append(calm, o)
		}
	}
	for _, o := range longest(p, "overlaps", merged(calm), maxSpans, itself) {
		b.rect("both", ms(o.From), ms(o.To), bottom, 4)
	}
	for _, o := range longest(p, "overlaps", merged(sharp), maxSpans, itself) {
		b.rect("both sharp", ms(o.From), ms(o.To), bottom, 4)
	}
	p.flush(&p.shapes, y, &b)
	if len(tl.Both) > 0 {
		bottom += 6
	}
	return y + bottom
}

// laneHeight leaves room for 25 nodes.
func laneHeight(nodes int) float64 {
	switch {
	case nodes <= 5:
		return 24
	case nodes <= 10:
		return 20
	case nodes <= 16:
		return 16
	}
	return 13
}

// paintNodes draws a lane for each node.
func (p *picture) paintNodes(y float64) float64 {
	y = p.section(y, "nodes")
	h := laneHeight(len(p.tl.Nodes))
	for i := range p.tl.Nodes {
		n := &p.tl.Nodes[i]
		if n.Colour >= 0 {
			fmt.Fprintf(&p.fixed, `<rect class="id%d" x="12" y="%s" width="4" height="%s" rx="2"/>`, n.Colour, num(y+2), num(h-4))
		}
		fmt.Fprintf(&p.fixed, `<text class="name" x="22" y="%s">%s</text>`, num(y+h/2+4), escape(n.Name))
		p.paintNode(n, y, h)
		for k := range p.tl.Violations {
			p.markEvidence(&p.tl.Violations[k], y+h/2, func(m mark) bool { return m.Node == i })
		}
		y += h + rowGap
	}
	return y
}

func (p *picture) markEvidence(f *violation, y float64, here func(mark) bool) {
	for _, m := range f.Marks {
		if here(m) {
			p.marks = append(p.marks, dot{ms(m.At), y, "dot " + f.Tone(), f.N, m.Op})
		}
	}
}

func (p *picture) paintNode(n *Lane, y, h float64) {
	segs := coarsen(n.Segments, maxSegments/max(1, len(p.tl.Nodes)))
	row := hover{Y: y, H: h}
	var b boxes
	inset := max(2, h*0.2)
	for _, s := range segs {
		from, to := ms(s.From), ms(s.To)
		class, top, height := p.look(n, s), 0.0, h
		if strings.HasPrefix(class, "follow") || class == "unknown" {
			top, height = inset, h-2*inset
		}
		switch class {
		case "down":
			b.rect(class, from, to, h/2-0.75, 1.5)
		default:
			b.rect(class, from, to, top, height)
		}
		if Still(s.State) {
			b.rect("paused", from, to, 0, h)
		}
		row.Items = append(row.Items, hoverItem{from, to, describe(n, s)})
	}
	for _, a := range longest(p, "alarms", n.Alarms, maxSpans, func(a alarm) Span { return Span{a.At, a.At} }) {
		b.line("alarm", ms(a.At), 0, h)
		row.Items = append(row.Items, hoverItem{ms(a.At), ms(a.At), []string{n.Name + " raised an alarm", a.Line}})
	}
	off := hover{Y: y + h - 1, H: 2}
	for _, o := range longest(p, "times without a majority", n.Off, maxSpans, itself) {
		b.rect("off", ms(o.From), ms(o.To), h-1, 2)
		off.Items = append(off.Items, hoverItem{ms(o.From), ms(o.To), []string{n.Name + ": its links reach no majority"}})
	}
	p.flush(&p.shapes, y, &b)
	p.hovers = append(p.hovers, row, off)
	p.labelTerms(segs, y, h)
}

// look is the style of a segment.
func (p *picture) look(n *Lane, s Segment) string {
	switch {
	case s.State != history.Up && !Still(s.State):
		return "down"
	case !s.Known || s.View.Role == history.UnknownRole:
		return "unknown"
	case s.View.Role == history.Leader:
		if n.Colour < 0 {
			return "lead torn" // it never claimed to lead in one undivided answer
		}
		return fmt.Sprintf("lead id%d", n.Colour)
	case s.View.Role == history.Candidate:
		return "candidate"
	}
	for i := range p.tl.Nodes {
		if m := &p.tl.Nodes[i]; m.Name == s.View.Leader && m.Colour >= 0 {
			return fmt.Sprintf("follow tint%d", m.Colour)
		}
	}
	return "follow nobody"
}

// labelTerms prints each term once, in the longest segment that has it.
func (p *picture) labelTerms(segs []Segment, y, h float64) {
	for i := 0; i < len(segs); {
		longest, j := i, i
		for ; j < len(segs) && segs[j].View.Term == segs[i].View.Term && segs[j].Known == segs[i].Known; j++ {
			if segs[j].Length() > segs[longest].Length() {
				longest = j
			}
		}
		s := segs[longest]
		i = j
		if !s.Known || s.View.Term == 0 {
			if s.State != history.Up {
				p.labels = append(p.labels, label{From: ms(s.From), To: ms(s.To), Y: y + h/2 - 2.5, Class: "state", Texts: []string{string(s.State)}})
			}
			continue
		}
		class := "term"
		switch s.View.Role {
		case history.Leader:
			class = "on term"
		case history.Candidate:
			class = "on-candidate term"
		}
		texts := []string{fmt.Sprint(s.View.Term)}
		if Still(s.State) {
			texts = append([]string{fmt.Sprintf("%d %s", s.View.Term, s.State)}, texts...)
		}
		p.labels = append(p.labels, label{From: ms(s.From), To: ms(s.To), Y: y + h/2 + 4, Class: class, Texts: texts})
	}
}

// describe says what a segment is, for whoever points at it.
func describe(n *Lane, s Segment) []string {
	var what string
	switch {
	case s.State == history.Down:
		what = "down: its process was killed"
	case s.State == history.Crashed:
		what = "down: its machine crashed"
	case s.State == Exited:
		what = "down: its process ended by itself"
	case !s.Known:
		what = "not observed"
	default:
		what = viewWords(s.View)
	}
	if Still(s.State) {
		what = string(s.State) + "; it was " + what
	}
	lines := []string{n.Name + ": " + what}
	if s.Parts > 1 {
		lines = append(lines, fmt.Sprintf("the most of %d states too short to draw", s.Parts))
	}
	return lines
}

// viewWords says what a node said.
func viewWords(v history.View) string {
	s := v.Role.String()
	if v.Role == history.UnknownRole {
		s = "of unknown role"
	}
	switch {
	case v.Role == history.Leader:
	case v.Leader != "":
		s += " of " + v.Leader
	case v.Role == history.Follower:
		s += " of nobody"
	}
	if v.Term > 0 {
		s += fmt.Sprintf(", term %d", v.Term)
	}
	if v.Torn {
		s += " (from several answers)"
	}
	return s
}
