package report

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"recount/checkers"
	"recount/harness/record"
	"recount/internal/term"
)

//go:embed timeline.css
var timelineCSS string

const (
	sansFonts = `ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif`
	monoFonts = `ui-monospace,"SF Mono",SFMono-Regular,Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace`
)

// stylesheet is the timeline's style; the colours of leaders are added to what the file says.
var stylesheet = func() string {
	var b strings.Builder
	b.WriteString(timelineCSS)
	for i := range identities {
		fmt.Fprintf(&b, ".tl .id%d{fill:var(--id%d)}.tl .lead.id%d,.tl .write.id%d{stroke:var(--id%d)}.tl .tint%d{fill:var(--tint%d)}\n",
			i, i, i, i, i, i, i)
	}
	b.WriteString(".tl .write{fill:none}\n")
	return b.String()
}()

// escape makes of words that others have chosen a text of SVG: what XML has no way to write, such as characters of control, is replaced.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // the builder takes all
	return b.String()
}

// defs are the patterns: for the stretched layers, where they take the stretching back, and plain ones for the legend.
// Pictures of one scale share them.
func (p *picture) defs(w *bytes.Buffer) {
	back := fmt.Sprintf(` patternTransform="scale(%.6g,1)"`, 1/p.scale())
	for _, d := range []struct{ id, size, body string }{
		{"unknown", `width="6" height="6"`, `<path class="hatch" d="M-1 1l2-2M0 6l6-6M5 7l2-2"/>`},
		{"paused", `width="5" height="6"`, `<path class="bars" d="M0 0h2v6h-2z"/>`},
		{"slow", `width="4" height="4"`, `<path class="weave" d="M0 0h2v2h-2zM2 2h2v2h-2z"/>`},
	} {
		fmt.Fprintf(w, `<pattern id="tl-%s" %s patternUnits="userSpaceOnUse"%s>%s</pattern>`, d.id, d.size, back, d.body)
		fmt.Fprintf(w, `<pattern id="plain-%s" %s patternUnits="userSpaceOnUse">%s</pattern>`, d.id, d.size, d.body)
	}
}

// body writes the picture itself, without the frame.
func (p *picture) body(w *bytes.Buffer) {
	w.WriteString("<defs>")
	p.defs(w)
	w.WriteString("</defs>")
	p.layers(w, "tl-time")
}

// layers writes what the picture shows. The name is that of what keeps it within its time, one for each picture of a page.
func (p *picture) layers(w *bytes.Buffer, clip string) {
	fmt.Fprintf(w, `<clipPath id="%s"><rect x="%s" width="%s" height="%s"/></clipPath>`,
		clip, num(p.left-1), num(p.width-p.left-gutter+3), num(p.height))
	stretch := fmt.Sprintf(`<g class="z" transform="translate(%s,0) scale(%.6g,1)">`, num(p.x(0)), p.scale())
	fmt.Fprintf(w, `<g clip-path="url(#%s)">%s%s</g></g>`, clip, stretch, &p.under)
	fmt.Fprintf(w, `<g class="names">%s</g>`, &p.fixed)
	w.WriteString(`<g class="axis">`)
	p.axis(w)
	w.WriteString("</g>")
	fmt.Fprintf(w, `<g clip-path="url(#%s)">%s%s</g></g>`, clip, stretch, &p.shapes)
	w.WriteString(`<g class="labels">`)
	p.place(w)
	w.WriteString("</g>")
}

// SVG writes the run's timeline as a picture of its own, without scripts, for light and dark pages alike.
func SVG(w io.Writer, r *record.Run) error {
	const width, margin = 920.0, 14.0 // about what a README shows without shrinking it
	p := paint(Trace(r), width-2*margin)
	var b, above bytes.Buffer
	y := caption(&above, r, width, margin)
	legendHeight := p.legendHeight(width - 2*margin)
	height := y + p.height + legendHeight + margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="tl" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-label="%s">`,
		num(width), num(height), num(width), num(height), escape(alt(r)))
	fmt.Fprintf(&b, "<style>%s@media(prefers-color-scheme:dark){%s}</style>", standalone(light), standalone(dark))
	fmt.Fprintf(&b, `<rect class="card" x=".5" y=".5" width="%s" height="%s" rx="10"/>`, num(width-1), num(height-1))
	b.Write(above.Bytes())
	fmt.Fprintf(&b, `<svg x="%s" y="%s" width="%s" height="%s">`, num(margin), num(y), num(p.width), num(p.height))
	p.body(&b)
	b.WriteString("</svg>")
	fmt.Fprintf(&b, `<g class="plain" transform="translate(%s,%s)">`, num(margin), num(y+p.height+14))
	p.legendRows(&b, width-2*margin)
	b.WriteString("</g></svg>\n")
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the timeline: %w", err)
	}
	return nil
}

// The size of a strip: about that of a card, so that its words can be read.
const (
	stripWidth = 420.0
	namesRow   = 17.0
)

// Strip writes the whole run small: who led, with their names below, what was broken, where violations lie.
func Strip(w io.Writer, r *record.Run) error {
	tl := Trace(r)
	if tl.End == 0 {
		return NoStrip(w, "There is no history to draw.")
	}
	p := paint(tl, stripWidth)
	p.left, p.width = 0, stripWidth+gutter
	var b bytes.Buffer
	p.overview(&b)
	p.leaders(&b)
	return strip(w, &b)
}

// NoStrip writes, in the place of a strip, why there is none.
func NoStrip(w io.Writer, why string) error {
	var b bytes.Buffer
	for i, line := range term.Wrap(term.Printable(why), 64) {
		fmt.Fprintf(&b, `<text class="small" x="8" y="%d">%s</text>`, 14+14*i, escape(line))
	}
	return strip(w, &b)
}

// leaders writes the names of the nodes that led, each with its colour, as many as there is room for.
func (p *picture) leaders(w *bytes.Buffer) {
	x, y := 8.0, overviewHeight+12
	write := func(text string) {
		fmt.Fprintf(w, `<text class="small" x="%s" y="%s">%s</text>`, num(x), num(y), escape(text))
		x += textWidth(text) + 14
	}
	nobody := true
	for n := range p.tl.Nodes {
		lane := &p.tl.Nodes[n]
		if lane.Colour < 0 {
			continue
		}
		nobody = false
		name := term.Clip(lane.Name, 14)
		if x+textWidth(name)+40 > stripWidth {
			write("…")
			break
		}
		fmt.Fprintf(w, `<path class="lead id%d" d="M%s %sh9v9h-9z"/>`, lane.Colour, num(x), num(y-8.5))
		x += 13
		write(name)
	}
	if nobody {
		write("nobody led")
	}
}

// strip writes a strip around what is within it.
func strip(w io.Writer, body *bytes.Buffer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="tl" viewBox="0 0 %s %s">`, num(stripWidth), num(overviewHeight+namesRow))
	fmt.Fprintf(&b, "<style>%s@media(prefers-color-scheme:dark){%s}</style>", standalone(light), standalone(dark))
	b.Write(body.Bytes())
	b.WriteString("</svg>\n")
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the strip: %w", err)
	}
	return nil
}

// standalone is the style of a picture that no page gives colours to.
func standalone(g ground) string {
	css := stylesheet + ".tl .card{fill:var(--panel);stroke:var(--line)}" +
		".tl .title{font-size:16px;font-weight:650}.tl .sub{font-size:12px;fill:var(--soft)}" +
		".tl .legend{font-size:11px;fill:var(--soft)}"
	css = strings.NewReplacer("var(--sans)", sansFonts, "var(--mono)", monoFonts, "\n", "").Replace(css)
	return resolve(css, g)
}

// caption writes what the picture is of, above it, and returns where it ends.
func caption(w *bytes.Buffer, r *record.Run, width, margin float64) float64 {
	y := margin + 14
	fmt.Fprintf(w, `<text class="title" x="%s" y="%s">%s</text>`, num(margin+12), num(y), escape(headline(r)))
	y += 20
	for _, line := range term.Wrap(subline(r), int((width-2*margin-24)/6.4)) {
		fmt.Fprintf(w, `<text class="sub" x="%s" y="%s">%s</text>`, num(margin+12), num(y), escape(line))
		y += 16
	}
	return y
}

// headline names a run: its scenario and its target.
func headline(r *record.Run) string {
	switch {
	case r.Title == "" || r.Title == r.Target:
		return r.Target
	case r.Target == "": // a history of somebody else's
		return r.Title
	}
	return r.Title + " · " + r.Target
}

// subline says where it ran and what came of it.
func subline(r *record.Run) string {
	s := fmt.Sprintf("%s, %s, seed %d.", membersOf(r), clusterWords(r.Cluster), r.Seed)
	for _, v := range ranked(r) {
		if v.Verdict == checkers.Invalid {
			return fmt.Sprintf("%s %s is invalid: %s", s, v.Property, v.Why)
		}
	}
	return s + " " + Sentence(r)
}

func clusterWords(cluster string) string {
	switch cluster {
	case "sim":
		return "simulated"
	case "docker":
		return "in containers"
	}
	return cluster
}

// alt is the picture in words.
func alt(r *record.Run) string { return "Timeline of " + headline(r) + ": " + subline(r) }
