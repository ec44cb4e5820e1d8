package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recount/history"
	"recount/internal/term"
)

// paintFaults draws a bar for each fault from its inject to its heal.
func (p *picture) paintFaults(y float64) float64 {
	if len(p.tl.Faults) == 0 {
		return y
	}
	y = p.section(y, "faults")
	const h, step = 16.0, 19.0
	faults := longest(p, "faults", p.tl.Faults, maxFaults, func(f FaultBar) Span { return f.Span })
	p.faults = faults
	turns := 0
	spans := make([]Span, len(faults))
	for i, f := range faults {
		spans[i] = f.Span
	}
	rows := pack(spans, nil, p.pixels(60), maxFaultRows) // with room for names behind the bars
	if slices.Max(rows) > 3 {
		rows = pack(spans, nil, p.pixels(3), maxFaultRows)
	}
	used := 1
	hovers := make([]hover, maxFaultRows)
	next := make([]float64, maxFaultRows) // where the room of a row's label ends
	for i := range next {
		next[i] = ms(p.tl.End) + gutter/p.scale() // what is farther to the right is not seen
	}
	var b boxes
	for i := len(faults) - 1; i >= 0; i-- {
		f, row := &faults[i], rows[i]
		f.Row = row
		used = max(used, row+1)
		from, to, top := ms(f.From), ms(f.To), float64(row)*step
		class, texts := f.look()
		if f.late() {
			b.rect("begun", ms(f.Begun), from, top+h/2-2, 4)
		}
		b.rect("fault "+class, from, to, top, h)
		b.line("edge "+class, from, top, h)
		b.line("edge "+class, to, top, h)
		for _, t := range f.Turns {
			if turns++; turns <= maxTurns {
				b.line("turn", ms(t), top+h-4, 4)
			}
		}
		name := label{From: from, To: to, Beyond: next[row], Y: y + top + 12, Class: "faultname", Texts: texts}
		if slices.Index(rows, row) == i {
			name.Before = min(from, ms(f.Begun))
		}
		p.labels = append(p.labels, name)
		next[row] = from
		hovers[row].Items = append(hovers[row].Items, hoverItem{from, to, faultWords(f)})
		for k := range p.tl.Violations {
			p.markEvidence(&p.tl.Violations[k], y+top+h/2, func(m mark) bool { return m.Fault == f.ID })
		}
	}
	if turns > maxTurns {
		p.omit("changes of faults", turns-maxTurns, turns)
	}
	p.flush(&p.shapes, y, &b)
	for i := range used {
		slices.Reverse(hovers[i].Items)
		hovers[i].Y, hovers[i].H = y+float64(i)*step, h
	}
	p.hovers = append(p.hovers, hovers[:used]...)
	return y + float64(used)*step
}

// late reports whether it took so long to see what came of a fault that what followed may stand before it.
func (f *FaultBar) late() bool { return f.From-f.Begun > 100*time.Millisecond }

// look is the style of a fault's bar, and what may be written into it, by how much room there is.
func (f *FaultBar) look() (class string, texts []string) {
	switch {
	case f.Took == history.Fail, f.Idle != "":
		return "failed", []string{"✕ " + f.Title() + ": no effect", "✕ " + f.Title(), "✕"}
	case f.Took == history.Info:
		return "unsure", []string{f.Title() + " (effect not seen)", f.Title() + " ?", f.Name}
	}
	return "took", []string{f.Title(), f.Name}
}

// pixels is how much time so many pixels show.
func (p *picture) pixels(n float64) time.Duration {
	return time.Duration(n / p.scale() * float64(time.Millisecond))
}

// faultWords says what a fault did, for whoever points at it.
func faultWords(f *FaultBar) []string {
	lines := []string{f.Title()}
	if f.late() {
		lines = append(lines, fmt.Sprintf("begun at %s, known from %s on", seconds(f.Begun), seconds(f.From)))
	}
	if len(f.Asked) > 0 {
		lines = append(lines, "aimed at: "+strings.Join(f.Asked, ", "))
	}
	if len(f.Params) > 0 {
		lines = append(lines, settings(f.Params))
	}
	for _, k := range f.Clocks {
		lines = append(lines, fmt.Sprintf("clock of %s: %+v, drift %+g", k.Node, k.Offset, k.Drift))
	}
	for _, d := range f.Disks {
		lines = append(lines, fmt.Sprintf("disk of %s: %v", d.Node, d.DiskState))
	}
	for _, p := range f.CPUs() {
		lines = append(lines, fmt.Sprintf("processor of %s: %s", p.Node, p.Words()))
	}
	for _, m := range f.Memories() {
		lines = append(lines, fmt.Sprintf("memory of %s: %s", m.Node, m.Words()))
	}
	for _, o := range f.Owns() {
		lines = append(lines, fmt.Sprintf("%s: %s", o.Name(), o.Words()))
	}
	switch f.Took {
	case history.Fail:
		lines = append(lines, "it did not take effect: "+term.Clip(f.Error, 120))
	case history.Info:
		lines = append(lines, "nobody saw whether it took effect "+term.Clip(f.Error, 120))
	}
	if f.Idle != "" {
		lines = append(lines, "it has not done what it was to do: "+term.Clip(f.Idle, 120))
	}
	return lines
}
