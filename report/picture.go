package report

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"recount/internal/term"
)

// picture is a timeline laid out and painted. Shapes are painted in milliseconds along x and stretched by a transform, so
// that zooming is to change that one transform; whatever must not be stretched (text, flags) is a list with times, put in
// place last: here for the picture as it stands on the page, by the page's script whenever somebody zooms.
type picture struct {
	tl     *Timeline
	width  float64
	left   float64 // where time begins
	from   float64 // the first instant that is shown, in milliseconds
	span   float64 // how much time is, in milliseconds
	zero   float64 // the instant that the axis counts from
	height float64
	top    float64 // where the lanes begin, below the evidence

	fixed  bytes.Buffer // names and rules
	under  bytes.Buffer // what lies behind all lanes, stretched
	shapes bytes.Buffer // the lanes, stretched

	labels []label
	marks  []dot
	hovers []hover
	used   map[string]bool // which styles occur: the legend explains no others

	claims  []Claim    // those that are drawn
	faults  []FaultBar // likewise
	omitted []string   // what was too much to be drawn
}

// label is a text within a stretch of time: the first of its texts that fits is shown. A text that does not fit may
// stand behind the stretch, if there is room up to Beyond, or end where Before says. Where Beyond is infinite it is shown in any case, and ends with
// the picture at the latest.
type label struct {
	From, To, Beyond float64 // milliseconds
	Before           float64 // likewise; 0 where something else may be before the stretch
	Flush            bool    // it begins at From itself, not a little behind
	Y                float64
	Class            string
	Texts            []string
}

// dot is a mark at an instant.
type dot struct {
	At, Y float64
	Class string
	N     int // the violation's number
	Op    int
}

// hover is a row of things that can be pointed at.
type hover struct {
	Y, H  float64
	Items []hoverItem
}

// hoverItem is what there is to say about a stretch of time, line by line.
type hoverItem struct {
	From, To float64
	Lines    []string
}

const (
	gutter = 18.0 // to the right of the last instant
	rowGap = 3.0
)

// scale is pixels per millisecond.
func (p *picture) scale() float64 {
	return (p.width - p.left - gutter) / p.span
}

// x is where an instant lies.
func (p *picture) x(t float64) float64 { return p.left + (t-p.from)*p.scale() }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// num writes a number as short as can be: SVG has thousands of them.
func num(f float64) string {
	return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64)
}

// paint lays out and paints a timeline.
func paint(tl *Timeline, width float64) *picture {
	p := &picture{tl: tl, width: width, left: tl.margin(), span: max(ms(tl.End), 1), used: map[string]bool{}}
	p.lanes()
	return p
}

// margin is how much room the names of the lanes take.
func (tl *Timeline) margin() float64 {
	longest := 8
	for _, n := range tl.Names {
		longest = max(longest, utf8.RuneCountInString(n)+3)
	}
	for _, l := range tl.Links {
		longest = max(longest, utf8.RuneCountInString(l.Label))
	}
	return min(190, max(112, float64(longest)*6.9+26))
}

// lanes paints them, one below the other.
func (p *picture) lanes() {
	y := 26.0 // below the upper axis
	y = p.paintViolations(y)
	p.top = y
	y = p.paintLeaders(y)
	y = p.paintNodes(y)
	y = p.paintWrites(y)
	y = p.paintRequests(y)
	y = p.paintLinks(y)
	y = p.paintClocks(y)
	y = p.paintFaults(y)
	p.height = y + 22 // the lower axis
	p.paintColumns(y)
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

// section opens a group of rows under a heading.
func (p *picture) section(y float64, heading string) float64 {
	fmt.Fprintf(&p.fixed, `<line class="rule" y1="%s" x2="100%%" y2="%s"/>`, num(y+5.5), num(y+5.5))
	fmt.Fprintf(&p.fixed, `<text class="heading" x="12" y="%s">%s</text>`, num(y+20), escape(heading))
	return y + 27
}

// name writes the name of a row at its left.
func (p *picture) name(y, h float64, text, class string) {
	const room = 12
	fits := int((p.left - room - 10) / 6.7)
	short := term.Clip(text, max(2, fits))
	title := ""
	if short != text {
		title = "<title>" + escape(text) + "</title>"
	}
	fmt.Fprintf(&p.fixed, `<text class="%s" x="12" y="%s">%s%s</text>`, class, num(y+h/2+4), escape(short), title)
}

// boxes gathers rectangles of one style into one path.
type boxes struct {
	order []string
	paths map[string]*bytes.Buffer
}

func (b *boxes) path(class string) *bytes.Buffer {
	if b.paths == nil {
		b.paths = map[string]*bytes.Buffer{}
	}
	if b.paths[class] == nil {
		b.paths[class] = &bytes.Buffer{}
		b.order = append(b.order, class)
	}
	return b.paths[class]
}

func (b *boxes) rect(class string, from, to, y, h float64) {
	w := num(to - from)
	fmt.Fprintf(b.path(class), "M%s %sh%sv%sh-%sz", num(from), num(y), w, num(h), w)
}

func (b *boxes) line(class string, at, y, h float64) {
	fmt.Fprintf(b.path(class), "M%s %sv%s", num(at), num(y), num(h))
}

// flush writes the paths and notes that their styles are in use.
func (p *picture) flush(w *bytes.Buffer, y float64, b *boxes) {
	if len(b.order) == 0 {
		return
	}
	fmt.Fprintf(w, `<g transform="translate(0,%s)">`, num(y))
	for _, class := range b.order {
		p.used[class] = true
		fmt.Fprintf(w, `<path class="%s" d="%s"/>`, class, b.paths[class])
	}
	w.WriteString("</g>")
}

// axis writes the ticks of time along the top and the bottom.
func (p *picture) axis(w *bytes.Buffer) {
	step := tickStep(p.span, (p.width-p.left-gutter)/90)
	for t := math.Ceil((p.from-p.zero)/step) * step; t <= p.from-p.zero+p.span+0.01; t += step {
		x := p.x(p.zero + t)
		fmt.Fprintf(w, `<path class="grid" d="M%s 24V%s"/>`, num(x), num(p.height-20))
		text := tickText(t, step)
		for _, y := range []float64{15, p.height - 6} {
			fmt.Fprintf(w, `<text class="tick" x="%s" y="%s">%s</text>`, num(x), num(y), text)
		}
	}
}

var tickSteps = []float64{
	1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000,
	1_200_000, 1_800_000, 3_600_000,
}

// tickStep returns the milliseconds from tick to tick, for at most so many ticks.
func tickStep(length, most float64) float64 {
	i := slices.IndexFunc(tickSteps, func(s float64) bool { return length/s <= most })
	if i < 0 {
		last := tickSteps[len(tickSteps)-1]
		return last * math.Ceil(length/last/most)
	}
	return tickSteps[i]
}

// tickText names an instant as exactly as the step between ticks needs.
func tickText(t, step float64) string {
	if t < 0 {
		return "−" + tickText(-t, step)
	}
	if step >= 1000 && t >= ms(day) {
		return fmt.Sprintf("%d:%02d:%02d", int(t)/3_600_000, int(t)/60_000%60, int(t)/1000%60)
	}
	if step >= 1000 && t >= 60_000 {
		return fmt.Sprintf("%d:%02d", int(t)/60_000, int(t)/1000%60)
	}
	digits := 0
	switch {
	case step < 10:
		digits = 3
	case step < 100:
		digits = 2
	case step < 1000:
		digits = 1
	}
	return strconv.FormatFloat(math.Abs(t)/1000, 'f', digits, 64) + " s"
}

// place writes labels and dots where they belong without zoom.
func (p *picture) place(w *bytes.Buffer) {
	k := p.scale()
	for _, l := range p.labels {
		l.From = max(l.From, p.from)
		if text, x := l.fit(p.from, k); text != "" && l.To >= p.from && l.From < p.from+p.span {
			if math.IsInf(l.Beyond, 1) {
				x = min(x, p.width-p.x(0)-textWidth(text)-6)
			}
			fmt.Fprintf(w, `<text class="%s" x="%s" y="%s">%s</text>`, l.Class, num(p.x(0)+x), num(l.Y), escape(text))
		}
	}
	last := map[string]float64{}
	for _, d := range p.marks {
		x := p.x(d.At)
		row := fmt.Sprint(d.N, " ", d.Y)
		if before, drawn := last[row]; drawn && x-before < 4 || x < p.left || x > p.width-gutter {
			continue
		}
		last[row] = x
		fmt.Fprintf(w, `<circle class="%s" cx="%s" cy="%s" r="3.6"/>`, d.Class, num(x), num(d.Y))
	}
}

// inset is by how many pixels a text stands behind the beginning of its stretch, at any scale.
func (l *label) inset() float64 {
	if l.Flush {
		return 0
	}
	return 4
}

// fit chooses among a label's texts and places, of a picture that begins at a time, at a scale.
func (l *label) fit(from, k float64) (text string, x float64) {
	for _, text := range l.Texts {
		need := textWidth(text) + 6
		if need-4+l.inset() <= (l.To-l.From)*k {
			return text, l.From*k + l.inset()
		}
		if need <= (l.Beyond-l.To)*k {
			return text, l.To*k + 5
		}
		if need <= (l.Before-from)*k {
			return text, l.Before*k - need + 1
		}
	}
	return "", 0
}

// textWidth is a guess, on the wide side, at the size of the labels.
func textWidth(s string) float64 {
	w := 0.0
	for _, c := range s {
		switch {
		case strings.ContainsRune(" ·.,:|ijltf", c):
			w += 3.9
		case c >= '0' && c <= '9':
			w += 6.7
		default:
			w += 6.9
		}
	}
	return w
}

// merged returns spans in order, those that overlap or touch joined.
func merged(spans []Span) (out []Span) {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	for _, s := range spans {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}
