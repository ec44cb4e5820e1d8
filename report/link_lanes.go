package report

import (
	"fmt"
	"strings"

	"recount/history"
)

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
		spans := longest(p, "times of "+l.Label, l.Spans, maxSpans, func(s linkSpan) Span { return s.Span })
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
