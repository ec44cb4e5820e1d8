package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// chartData is what the page's script needs in order to zoom, pan and tell what is under the pointer.
type chartData struct {
	End    float64     `json:"end"` // milliseconds
	Left   float64     `json:"left"`
	Gutter float64     `json:"gutter"`
	Height float64     `json:"height"`
	Steps  []float64   `json:"steps"`
	Labels []any       `json:"labels"` // [from, to, beyond (null: shown in any case), y, class, [texts], inset in pixels]
	Marks  []any       `json:"marks"`  // [at, y, class, number, op]
	Rows   []chartRow  `json:"rows"`
	Words  []string    `json:"words"` // what rows say, each once
	Flags  [][]float64 `json:"flags"` // [from, to, number]
}

// chartRow is a row that can be pointed at.
type chartRow struct {
	Y     float64      `json:"y"`
	H     float64      `json:"h"`
	Items [][3]float64 `json:"s"` // [from, to, place in Words]
}

func (p *picture) data() *chartData {
	d := &chartData{
		End: round(ms(p.tl.End)), Left: p.left, Gutter: gutter, Height: p.height, Steps: tickSteps,
		Labels: []any{}, Marks: []any{}, Rows: []chartRow{}, Words: []string{}, Flags: [][]float64{},
	}
	for _, l := range p.labels {
		beyond := any(nil)
		if !math.IsInf(l.Beyond, 1) {
			beyond = round(l.Beyond)
		}
		d.Labels = append(d.Labels, []any{round(l.From), round(l.To), beyond, round(l.Y), l.Class, l.Texts, l.inset(), round(l.Before)})
	}
	for _, m := range p.marks {
		d.Marks = append(d.Marks, []any{round(m.At), round(m.Y), m.Class, m.N, m.Op})
	}
	known := map[string]float64{}
	for _, h := range p.hovers {
		r := chartRow{Y: round(h.Y), H: round(h.H), Items: [][3]float64{}}
		for _, it := range h.Items {
			text := strings.Join(it.Lines, "\n")
			at, seen := known[text]
			if !seen {
				at = float64(len(d.Words))
				known[text] = at
				d.Words = append(d.Words, text)
			}
			r.Items = append(r.Items, [3]float64{round(it.From), round(it.To), at})
		}
		d.Rows = append(d.Rows, r)
	}
	for _, f := range p.tl.Violations {
		d.Flags = append(d.Flags, []float64{round(ms(f.From)), round(ms(f.To)), float64(f.N)})
	}
	return d
}

func round(f float64) float64 { return math.Round(f*10) / 10 }

// overviewHeight is that of the strip above the timeline that always shows the whole run.
const overviewHeight = 34.0

// overview paints the whole run small: its leaders, its faults, its violations.
func (p *picture) overview(w *bytes.Buffer) {
	var b boxes
	for i := range p.tl.Violations {
		f := &p.tl.Violations[i]
		b.rect("window "+f.Tone(), ms(f.From), ms(f.To), 0, overviewHeight)
	}
	for _, c := range p.claims {
		b.rect(fmt.Sprintf("lead id%d", p.tl.Nodes[c.Node].Colour), ms(c.From), ms(c.To), 7, 12)
	}
	for _, f := range p.faults {
		b.rect("faults", ms(f.From), ms(f.To), 24, 3)
	}
	fmt.Fprintf(w, `<g class="whole" transform="translate(%s,0) scale(%.6g,1)">`, num(p.left), p.scale())
	p.flush(w, 0, &b)
	w.WriteString("</g>")
}
