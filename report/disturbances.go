package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"recount/history"
)

// What was done to the cluster, and what was written meanwhile: the lower half of the picture.

// paintWrites draws accepted writes upwards and rejected ones downwards, and the token above them where it changes.
func (p *picture) paintWrites(y float64) float64 {
	if !p.tl.Written {
		return y
	}
	y = p.section(y, "fenced writes")
	const middle, h = 27.0, 40.0
	var b boxes
	row := hover{Y: y, H: h}
	near := 2 / p.scale()
	for _, w := range p.thin(p.tl.Writes) {
		at := ms(w.At)
		switch w.Kind {
		case accepted:
			class := "write"
			if w.Node < len(p.tl.Nodes) && p.tl.Nodes[w.Node].Colour >= 0 {
				class = fmt.Sprintf("write id%d", p.tl.Nodes[w.Node].Colour)
			}
			b.line(class, at, middle, -12)
		case stale:
			b.line("write wrong", at, middle, -15)
		case rejected:
			b.line("write wrong down", at, middle, 11)
		default:
			b.line("write open", at, middle, -5)
		}
		row.Items = append(row.Items, hoverItem{at - near, at + near, []string{
			fmt.Sprintf("%s writes with token %d: %s", p.tl.Names[w.Node], w.Token, writeWords[w.Kind]), fmt.Sprintf("op %d", w.Op),
		}})
	}
	p.labelTokens(y + 9)
	b.rect("base", 0, ms(p.tl.End), middle, 1)
	p.flush(&p.shapes, y, &b)
	p.name(y, 40, "accepted", "small")
	p.name(y, 68, "rejected", "small")
	p.hovers = append(p.hovers, row)
	for i := range p.tl.Violations {
		p.markEvidence(&p.tl.Violations[i], y+middle, func(m mark) bool { return m.Write })
	}
	return y + h
}

// labelTokens prints the token of each unbroken row of accepted writes.
func (p *picture) labelTokens(y float64) {
	var ws []write
	for _, w := range p.tl.Writes {
		if w.Kind == accepted || w.Kind == stale {
			ws = append(ws, w)
		}
	}
	for i := 0; i < len(ws); {
		j := i
		for j < len(ws) && ws[j].Token == ws[i].Token {
			j++
		}
		to := ms(p.tl.End)
		if j < len(ws) {
			to = ms(ws[j].At)
		}
		p.labels = append(p.labels, label{From: ms(ws[i].At) - 4/p.scale(), To: to, Y: y, Class: "token", Texts: []string{fmt.Sprint(ws[i].Token)}})
		i = j
	}
}

// thin leaves out writes where they are too many to be told apart: of each kind it keeps one for each spot.
func (p *picture) thin(ws []write) []write {
	if len(ws) <= maxWrites {
		return ws
	}
	bin := p.tl.End/(maxWrites/4) + 1
	last := [4]time.Duration{-1, -1, -1, -1}
	var out []write
	for _, w := range ws {
		if w.At/bin != last[w.Kind] {
			last[w.Kind] = w.At / bin
			out = append(out, w)
		}
	}
	p.omit("writes, each beside one of its kind", len(ws)-len(out), len(ws))
	return out
}

// paintLinks draws when which links were down.
func (p *picture) paintLinks(y float64) float64 {
	if len(p.tl.Links) == 0 {
		return y
	}
	y = p.section(y, "links down")
	const h = 12.0
	for _, l := range p.tl.Links {
		var b boxes
		row := hover{Y: y, H: h}
		halves := false
		for _, s := range l.Spans {
			halves = halves || s.Back != (history.LinkState{}) && s.There != s.Back
		}
		height := h
		spans := longest(p, "times of "+l.Label, l.Spans, maxSpans, func(s linkSpan) span { return s.span })
		for i, s := range spans {
			height = p.paintLink(&b, s, halves)
			if s.Label != "" {
				next := ms(p.tl.End)
				if i+1 < len(spans) {
					next = ms(spans[i+1].From)
				}
				p.labels = append(p.labels, label{From: ms(s.From), To: next, Y: y + 10, Class: "state", Texts: []string{s.Label}})
			}
			row.Items = append(row.Items, hoverItem{ms(s.From), ms(s.To), []string{linkWords(l.Label, s)}})
		}
		row.H = height
		p.flush(&p.shapes, y, &b)
		p.name(y, height, l.Label, "name")
		p.hovers = append(p.hovers, row)
		y += height + rowGap + 2
	}
	return y
}

func (p *picture) paintLink(b *boxes, s linkSpan, halves bool) (height float64) {
	from, to := ms(s.From), ms(s.To)
	style := func(st history.LinkState) string {
		switch {
		case s.Unsure:
			return "link unsure"
		case st.Cut:
			return "link cut"
		}
		return "link slow"
	}
	switch {
	case s.Label != "":
		b.rect(style(s.There), from, to, 14, 6)
		return 20
	case halves:
		if s.There != (history.LinkState{}) {
			b.rect(style(s.There), from, to, 0, 5.5)
		}
		if s.Back != (history.LinkState{}) {
			b.rect(style(s.Back), from, to, 6.5, 5.5)
		}
	default:
		b.rect(style(s.There), from, to, 1, 10)
	}
	return 12
}

// linkWords says how links were mistreated.
func linkWords(name string, s linkSpan) string {
	if s.Label != "" {
		name = s.Label
	}
	var how string
	switch worst := s.There; {
	case s.There.Cut && s.Back.Cut, s.Label != "":
		how = "down, both ways"
	case s.There.Cut:
		how = "down in the direction named"
	case s.Back.Cut:
		how = "down on the way back"
	default:
		if worst == (history.LinkState{}) {
			worst = s.Back
		}
		how = impairment(worst)
	}
	if s.Unsure {
		how += " (not seen to have taken effect)"
	}
	return name + ": " + how
}

func impairment(l history.LinkState) string {
	var words []string
	for _, w := range []struct {
		on   bool
		text string
	}{
		{l.Loss > 0, fmt.Sprintf("loses %.3g %%", l.Loss*100)},
		{l.Delay > 0, "delayed by " + seconds(l.Delay)},
		{l.Jitter > 0, "jitter " + seconds(l.Jitter)},
		{l.Duplicate > 0, fmt.Sprintf("duplicates %.3g %%", l.Duplicate*100)},
		{l.Reorder > 0, fmt.Sprintf("reorders %.3g %%", l.Reorder*100)},
	} {
		if w.on {
			words = append(words, w.text)
		}
	}
	return strings.Join(words, ", ")
}

// paintFaults draws a bar for each fault from its inject to its heal.
func (p *picture) paintFaults(y float64) float64 {
	if len(p.tl.Faults) == 0 {
		return y
	}
	y = p.section(y, "faults")
	const h, step = 16.0, 19.0
	faults := longest(p, "faults", p.tl.Faults, maxFaults, func(f faultBar) span { return f.span })
	p.faults = faults
	turns := 0
	spans := make([]span, len(faults))
	for i, f := range faults {
		spans[i] = f.span
	}
	rows := pack(spans, nil, p.pixels(60), maxFaultRows) // with room for names behind the bars
	if slices.Max(rows) > 3 {
		rows = pack(spans, nil, p.pixels(3), maxFaultRows)
	}
	used := 1
	hovers := make([]hover, maxFaultRows)
	next := make([]float64, maxFaultRows) // where the room of a row's label ends
	for i := range next {
		next[i] = ms(p.tl.End) + 40/p.scale()
	}
	var b boxes
	for i := len(faults) - 1; i >= 0; i-- {
		f, row := &faults[i], rows[i]
		f.Row = row
		used = max(used, row+1)
		from, to, top := ms(f.From), ms(f.To), float64(row)*step
		class := map[history.Type]string{history.OK: "took", history.Fail: "failed", history.Info: "unsure"}[f.Took]
		texts := []string{f.title(), f.Name}
		switch f.Took {
		case history.Fail:
			texts = []string{"✕ " + f.title() + ": no effect", "✕ " + f.title(), "✕"}
		case history.Info:
			texts = []string{f.title() + " (effect not seen)", f.title() + " ?", f.Name}
		}
		b.rect("fault "+class, from, to, top, h)
		b.line("edge "+class, from, top, h)
		b.line("edge "+class, to, top, h)
		for _, t := range f.Turns {
			if turns++; turns <= maxTurns {
				b.line("turn", ms(t), top+h-4, 4)
			}
		}
		p.labels = append(p.labels, label{From: from, To: to, Beyond: next[row], Y: y + top + 12, Class: "faultname", Texts: texts})
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
		items := hovers[i].Items
		for a, z := 0, len(items)-1; a < z; a, z = a+1, z-1 {
			items[a], items[z] = items[z], items[a]
		}
		hovers[i].Y, hovers[i].H = y+float64(i)*step, h
	}
	p.hovers = append(p.hovers, hovers[:used]...)
	return y + float64(used)*step
}

// pixels is how much time so many pixels show.
func (p *picture) pixels(n float64) time.Duration {
	return time.Duration(n / p.scale() * float64(time.Millisecond))
}

// faultWords says what a fault did, for whoever points at it.
func faultWords(f *faultBar) []string {
	lines := []string{f.title()}
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
	switch f.Took {
	case history.Fail:
		lines = append(lines, "it did not take effect: "+clip(f.Error, 120))
	case history.Info:
		lines = append(lines, "nobody saw whether it took effect "+clip(f.Error, 120))
	}
	return lines
}

// paintColumns draws what concerns all lanes: the windows of the violations and the stalls of the machine.
func (p *picture) paintColumns(bottom float64) {
	var b boxes
	for i := range p.tl.Violations {
		f := &p.tl.Violations[i]
		b.rect("window "+f.Tone(), ms(f.From), ms(f.To), p.top, bottom-p.top)
	}
	row := hover{Y: 0, H: 24}
	for _, s := range longest(p, "stalls", merged(p.tl.Stalls), maxSpans, itself) {
		b.rect("stall", ms(s.From), ms(s.To), 24, bottom-24)
		row.Items = append(row.Items, hoverItem{ms(s.From), ms(s.To), []string{"the machine stood still"}})
	}
	if len(row.Items) > 0 {
		p.hovers = append(p.hovers, row)
	}
	var w bytes.Buffer
	p.flush(&w, 0, &b)
	p.under = w
}
