package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"recount/harness/record"
	"recount/history"
)

// What the clocks of the nodes told, drawn as by how much they were wrong over time.

// clockLane is what one node's clocks told.
type clockLane struct {
	Node    int
	Samples []clockSample // in order of time
}

type clockSample struct {
	At time.Duration
	history.Reading
}

const (
	// trueEnough is an error of a clock that is none: readings are that exact.
	trueEnough = 10 * time.Microsecond
	// unread is how long a line goes on without a reading. They are a second apart, but of nodes that do not run.
	unread = 2500 * time.Millisecond
	// clockGap is between two lanes, whose scales must not run into each other.
	clockGap = 9.0
)

// extent is between which errors the clocks of a lane were, the true time included.
func (l *clockLane) extent() (wall, monotonic [2]time.Duration) {
	for _, s := range l.Samples {
		wall = [2]time.Duration{min(wall[0], s.Wall), max(wall[1], s.Wall)}
		monotonic = [2]time.Duration{min(monotonic[0], s.Monotonic), max(monotonic[1], s.Monotonic)}
	}
	return wall, monotonic
}

// wrong tells whether the clocks were ever wrong.
func (l *clockLane) wrong() bool {
	wall, monotonic := l.extent()
	return max(-wall[0], wall[1], -monotonic[0], monotonic[1]) > trueEnough
}

// paintClocks draws a lane for each node whose clocks were wrong: above the line they are ahead of the true time.
func (p *picture) paintClocks(y float64) float64 {
	if len(p.tl.Clocks) == 0 {
		return y
	}
	y = p.section(y, "clocks: ahead of true time, or behind")
	var right []string
	for i := range p.tl.Clocks {
		l := &p.tl.Clocks[i]
		if !l.wrong() {
			right = append(right, p.tl.Names[l.Node])
			continue
		}
		y = p.paintClock(l, y)
	}
	if len(right) > 0 {
		fmt.Fprintf(&p.fixed, `<text class="small" x="12" y="%s">%s: right throughout</text>`, num(y+11), escape(strings.Join(right, ", ")))
		y += 17
	}
	return y
}

func (p *picture) paintClock(l *clockLane, y float64) float64 {
	const h, pad = 44.0, 5.0
	wall, monotonic := l.extent()
	low, high := min(wall[0], monotonic[0]), max(wall[1], monotonic[1])
	at := func(d time.Duration) float64 { return pad + float64(high-d)/float64(high-low)*(h-2*pad) }

	name := p.tl.Names[l.Node]
	if c := p.tl.Nodes[l.Node].Colour; c >= 0 {
		fmt.Fprintf(&p.fixed, `<rect class="id%d" x="12" y="%s" width="4" height="%s" rx="2"/>`, c, num(y+2), num(h-4))
	}
	fmt.Fprintf(&p.fixed, `<text class="name" x="22" y="%s">%s</text>`, num(y+h/2+4), escape(name))
	for _, d := range slices.Compact([]time.Duration{low, 0, high}) {
		if d != 0 || at(0)-at(high) > 11 && at(low)-at(0) > 11 || low == 0 || high == 0 {
			fmt.Fprintf(&p.fixed, `<text class="small scale" x="%s" y="%s">%s</text>`, num(p.left-6), num(y+at(d)+3.5), offsetWords(d))
		}
	}

	var b boxes
	b.rect("base", 0, ms(p.tl.End), at(0)-0.5, 1)
	samples := p.thinClock(l.Samples, name)
	p.plotClock(&b, "clock monotonic", samples, func(s clockSample) time.Duration { return s.Monotonic }, at)
	p.plotClock(&b, "clock wall", samples, func(s clockSample) time.Duration { return s.Wall }, at)
	row := hover{Y: y, H: h}
	for i, s := range samples {
		until := s.At + unread
		if i+1 < len(samples) {
			until = min(until, samples[i+1].At)
		}
		row.Items = append(row.Items, hoverItem{ms(s.At), ms(min(until, p.tl.End)), []string{
			name + ": wall clock " + offsetWords(s.Wall), "monotonic clock " + offsetWords(s.Monotonic),
		}})
	}
	p.flush(&p.shapes, y, &b)
	p.hovers = append(p.hovers, row)
	return y + h + clockGap
}

// thinClock leaves out readings where they are too many to be told apart.
func (p *picture) thinClock(all []clockSample, name string) (some []clockSample) {
	if len(all) <= maxSpans {
		return all
	}
	step := (len(all) + maxSpans - 1) / maxSpans
	for i := 0; i < len(all); i += step {
		some = append(some, all[i])
	}
	p.omit("readings of the clocks of "+name, len(all)-len(some), len(all))
	return some
}

// plotClock draws one clock: straight from reading to reading where it drifts, upright where it jumps. A drift is common to
// both clocks, and the monotonic one never jumps: what only the wall clock gains is a jump.
func (p *picture) plotClock(b *boxes, class string, samples []clockSample, of func(clockSample) time.Duration, at func(time.Duration) float64) {
	apart := unread
	if len(samples) >= maxSpans/2 { // some are left out
		apart = max(apart, 3*p.tl.End/time.Duration(len(samples)))
	}
	w := b.path(class)
	for i, s := range samples {
		x, y := num(ms(s.At)), num(at(of(s)))
		if i == 0 || s.At-samples[i-1].At > apart {
			fmt.Fprintf(w, "M%s %sh0", x, y)
			continue
		}
		before := samples[i-1]
		if alone := of(s) - of(before) - (s.Monotonic - before.Monotonic); alone.Abs() > trueEnough {
			fmt.Fprintf(w, "H%s", x)
		}
		fmt.Fprintf(w, "L%s %s", x, y)
	}
}

// offsetWords says by how much a clock is wrong.
func offsetWords(d time.Duration) string {
	switch {
	case d.Abs() <= trueEnough:
		return "0"
	case d < 0:
		return "−" + shortly(-d)
	}
	return "+" + shortly(d)
}

// shortly writes a time to three digits or so.
func shortly(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if d >= 2*u.unit || u.unit <= time.Second && d >= u.unit {
			return fmt.Sprintf("%.3g %s", float64(d)/float64(u.unit), u.name)
		}
	}
	return fmt.Sprintf("%.3g µs", float64(d)/float64(time.Microsecond))
}

// clockWords says in one line what the clocks of all nodes told; "" if nobody asked them.
func clockWords(r *record.Run) string {
	f := r.Frame()
	if !asked(f) {
		return ""
	}
	if r.History == nil { // that of the harness and the nemesis is all that it takes
		h, err := history.New(f.Ops)
		if err != nil {
			return ""
		}
		r = &record.Run{Nodes: r.Nodes, History: h}
	}
	tl := Trace(r)
	var words, right []string
	readings := 0
	for i := range tl.Clocks {
		l := &tl.Clocks[i]
		readings += len(l.Samples)
		if !l.wrong() {
			right = append(right, tl.Names[l.Node])
			continue
		}
		wall, monotonic := l.extent()
		s := fmt.Sprintf("%s wall %s", tl.Names[l.Node], rangeWords(wall))
		if max(-monotonic[0], monotonic[1]) > trueEnough {
			s += ", monotonic " + rangeWords(monotonic)
		}
		words = append(words, s)
	}
	if len(right) > 0 {
		words = append(words, strings.Join(right, ", ")+" right throughout")
	}
	if readings == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%d readings)", strings.Join(words, "; "), readings)
}

// asked reports whether anybody asked for the time that nodes have.
func asked(h *history.Frame) bool {
	for i := range h.Ops {
		if h.Ops[i].F == history.ReadClock {
			return true
		}
	}
	return false
}

func rangeWords(e [2]time.Duration) string {
	if e[0] == 0 || e[1] == 0 {
		return offsetWords(cmp.Or(e[0], e[1]))
	}
	return offsetWords(e[0]) + " to " + offsetWords(e[1])
}
