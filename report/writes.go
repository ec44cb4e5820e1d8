package report

import (
	"fmt"
	"time"
)

// paintWrites draws accepted writes upwards and rejected ones downwards, and the token above them where it changes.
func (p *picture) paintWrites(y float64) float64 {
	if !p.tl.Written {
		return y
	}
	y = p.section(y, "fenced writes")
	const middle, h = 27.0, 40.0
	var b boxes
	row := hover{Y: y, H: h}
	for _, w := range p.thin(p.tl.Writes) {
		at, writer, colour := ms(w.At), "somebody", -1
		if w.Node >= 0 {
			writer, colour = p.tl.Names[w.Node], p.tl.Nodes[w.Node].Colour
		}
		switch w.Kind {
		case accepted:
			class := "write"
			if colour >= 0 {
				class = fmt.Sprintf("write id%d", colour)
			}
			b.line(class, at, middle, -12)
		case stale:
			b.line("write wrong", at, middle, -15)
		case rejected:
			b.line("write wrong down", at, middle, 11)
		default:
			b.line("write open", at, middle, -5)
		}
		row.Items = append(row.Items, hoverItem{at, at, []string{
			fmt.Sprintf("%s writes with token %d: %s", writer, w.Token, writeWords[w.Kind]), fmt.Sprintf("op %d", w.Op),
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
		p.labels = append(p.labels, label{From: ms(ws[i].At), To: to, Flush: true, Y: y, Class: "token", Texts: []string{fmt.Sprint(ws[i].Token)}})
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
