package serve

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// chart is a small picture of numbers: lines of points, each with a whisker to its high, and from its low if it has one, over time, over words, or over a count.
type chart struct {
	lines []chartLine
	unit  string
	words []string // what whole numbers along x stand for
	dates bool     // x is seconds since 1970, and without words and dates a count
	whole bool     // y counts things
}

type chartLine struct {
	Name   string
	Colour int
	Dots   bool // the points are not joined
	Points []chartPoint
}

type chartPoint struct {
	X, Y, Low, High float64 // Low is 0 where a whisker begins at Y
	Words           string  // beside its number, for who points at it
}

const (
	chartWidth  = 560.0
	chartHeight = 190.0
	chartLeft   = 52.0
	chartRight  = 18.0
	chartTop    = 14.0
	chartBottom = 26.0
)

// draw returns what is within an svg element of class plot, and its viewBox.
func (c *chart) draw() (body template.HTML, viewBox string) {
	low, high, top := math.Inf(1), math.Inf(-1), 0.0
	lines := c.drawable()
	for _, l := range lines {
		for _, p := range l.Points {
			low, high, top = min(low, p.X), max(high, p.X), max(top, p.Y, p.High)
		}
	}
	viewBox = fmt.Sprintf("0 0 %g %g", chartWidth, chartHeight)
	if low > high { // no axis says anything then
		return template.HTML(fmt.Sprintf(`<text class="x" x="%g" y="%g">nothing was measured</text>`, chartWidth/2, chartHeight/2)), viewBox
	}
	switch {
	case c.words != nil:
		low, high = -0.5, float64(len(c.words))-0.5
	case !c.dates: // a count
		low, high = 0, max(high, 1)
	}
	if c.dates && high-low < 3600 { // what is minutes apart is of one time
		low, high = low-1800, high+1800
	}
	if low == high {
		low, high = low-0.5, high+0.5
	}
	if top < 1e-15 { // nothing, or too little to be cut into steps
		top = 1
	}
	step := nice(top / 4)
	if c.whole {
		step = max(step, 1)
	}
	top = max(math.Ceil(top/step), 1) * step
	x := func(v float64) float64 { return chartLeft + (v-low)/(high-low)*(chartWidth-chartLeft-chartRight) }
	y := func(v float64) float64 { return chartHeight - chartBottom - v/top*(chartHeight-chartTop-chartBottom) }
	var b bytes.Buffer
	for i := range int(math.Round(top/step)) + 1 {
		v := float64(i) * step
		fmt.Fprintf(&b, `<path class="grid" d="M%.1f %.1fH%.1f"/><text class="y" x="%.1f" y="%.1f">%s</text>`,
			chartLeft, y(v), chartWidth-chartRight, chartLeft-7, y(v)+3.5, html.EscapeString(axisNumber(v)+c.unit))
	}
	for _, t := range c.ticks(low, high) {
		fmt.Fprintf(&b, `<text class="x" x="%.1f" y="%.1f">%s</text>`, x(t.at), chartHeight-8, html.EscapeString(t.words))
	}
	for _, l := range lines {
		fmt.Fprintf(&b, `<g class="of%d">`, l.Colour)
		if !l.Dots && len(l.Points) > 1 {
			b.WriteString(`<path class="line" d="`)
			for i, p := range l.Points {
				fmt.Fprintf(&b, "%c%.1f %.1f", "ML"[min(i, 1)], x(p.X), y(p.Y))
			}
			b.WriteString(`"/>`)
		}
		for _, p := range l.Points {
			fmt.Fprintf(&b, `<g><title>%s: %.4g%s, %s</title>`, html.EscapeString(l.Name), p.Y, c.unit, html.EscapeString(p.Words))
			if p.High > p.Y {
				from := p.Y
				if p.Low > 0 {
					from = p.Low
				}
				fmt.Fprintf(&b, `<path class="whisker" d="M%.1f %.1fV%.1fm-3 0h6"/>`, x(p.X), y(from), y(p.High))
			}
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="%g"/></g>`, x(p.X), y(p.Y), dotSize(len(l.Points)))
		}
		b.WriteString("</g>")
	}
	return template.HTML(b.String()), viewBox
}

// drawable is the lines without the points that no scale can show: files that were read may hold any number.
func (c *chart) drawable() []chartLine {
	const most = 1e15 // beyond, steps along an axis are lost in rounding, and then sums become infinite
	fits := func(v float64) bool { return math.Abs(v) < most }
	lines := slices.Clone(c.lines)
	for i := range lines {
		lines[i].Points = slices.DeleteFunc(slices.Clone(lines[i].Points), func(p chartPoint) bool {
			return !fits(p.X) || !fits(p.Y) || !fits(p.Low) || !fits(p.High)
		})
	}
	return lines
}

func dotSize(points int) float64 {
	if points > 60 {
		return 1.5
	}
	return 3.5
}

// tick is a word along x.
type tick struct {
	at    float64
	words string
}

func (c *chart) ticks(low, high float64) (all []tick) {
	const most = 6
	switch {
	case c.words != nil:
		each := (len(c.words) + most - 1) / most
		for i := 0; i < len(c.words); i += each {
			w := c.words[i]
			if n := utf8.RuneCountInString(w); n > 16 {
				w = "…" + string([]rune(w)[n-15:])
			}
			all = append(all, tick{float64(i), w})
		}
	case c.dates:
		form := time.DateOnly
		if high-low < 2*86400 {
			form = "Jan 2 15:04"
		}
		for i := range 4 {
			at := low + (high-low)*(0.06+0.88*float64(i)/3)
			all = append(all, tick{at, time.Unix(int64(at), 0).Format(form)})
		}
	default:
		step := max(nice((high-low)/most), 1)
		for v := math.Ceil(low/step) * step; v <= high; v += step {
			all = append(all, tick{v, strconv.FormatFloat(v, 'f', -1, 64)})
		}
	}
	return all
}

// axisNumber is a number along an axis, without powers of ten as long as it has a place for it.
func axisNumber(v float64) string {
	if v >= 1000 && v < 1e7 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// nice is the next of 1, 2, 5, 10, 20, … from a number on.
func nice(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, k := range []float64{1, 2, 5} {
		if k*power >= v*0.9999 {
			return k * power
		}
	}
	return 10 * power
}
