package report

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"time"
)

// Pair is two runs drawn one above the other, on one axis.
type Pair struct {
	Runs  [2]*Timeline
	Names [2]string        // what the runs are called
	Zero  [2]time.Duration // the instants of the two that lie above one another; the axis counts from there
	From  time.Duration    // what is shown, on that axis
	To    time.Duration
	Mark  []time.Duration // instants with a line through both, on that axis
}

const pairGap = 26.0 // between two runs: the name of the lower one

// draw paints the pair, and returns what is within its picture, how high that is, and what explains it.
func (d *Pair) draw(width float64) (body bytes.Buffer, height float64, legend []LegendEntry) {
	used, both := map[string]bool{}, &Timeline{}
	left := max(d.Runs[0].margin(), d.Runs[1].margin())
	var shapes bytes.Buffer
	for i, tl := range d.Runs {
		p := &picture{tl: tl, width: width, left: left, used: used}
		p.zero, p.from, p.span = ms(d.Zero[i]), ms(d.Zero[i]+d.From), max(ms(d.To-d.From), 1)
		p.lanes()
		if i == 0 {
			body.WriteString("<defs>")
			p.defs(&body)
			body.WriteString("</defs>")
		}
		fmt.Fprintf(&shapes, `<text class="pair-name" x="12" y="%s">%s</text>`, num(height+15), escape(d.Names[i]))
		fmt.Fprintf(&shapes, `<g transform="translate(0,%s)">`, num(height+pairGap-4))
		p.layers(&shapes, fmt.Sprintf("tl-time-%d", i))
		shapes.WriteString("</g>")
		height += p.height + pairGap
		both.Violations = append(both.Violations, tl.Violations...)
	}
	body.Write(shapes.Bytes())
	scale := (width - left - gutter) / max(ms(d.To-d.From), 1)
	for _, at := range d.Mark {
		if at >= d.From && at <= d.To {
			x := num(left + ms(at-d.From)*scale)
			fmt.Fprintf(&body, `<path class="difference" d="M%s 20V%s"/>`, x, num(height))
		}
	}
	return body, height, (&picture{tl: both, used: used}).entries()
}

// Chart returns the picture for a page: what is within an svg element of class tl, the viewBox of that, and the legend.
func (d *Pair) Chart() (body template.HTML, viewBox string, legend []LegendEntry) {
	const width = 1280.0
	b, height, legend := d.draw(width)
	return template.HTML(b.String()), fmt.Sprintf("0 0 %s %s", num(width), num(height)), legend
}

// SVG writes the picture as one of its own, without scripts, for light and dark pages alike.
func (d *Pair) SVG(w io.Writer) error {
	const width = 1000.0
	body, height, _ := d.draw(width)
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="tl" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-label="%s">`,
		num(width), num(height), num(width), num(height), escape(d.Names[0]+" above "+d.Names[1]))
	fmt.Fprintf(&b, "<style>%s@media(prefers-color-scheme:dark){%s}</style>", standalone(light), standalone(dark))
	fmt.Fprintf(&b, `<rect class="card" x=".5" y=".5" width="%s" height="%s" rx="10"/>%s</svg>`, num(width-1), num(height-1), &body)
	b.WriteByte('\n')
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the pair: %w", err)
	}
	return nil
}
