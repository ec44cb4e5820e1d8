package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"recount/history"
)

// What clients asked of the election, and what they got: how many operations ended in each stretch of time, and after how long. Who looks
// for what an election costs looks here.

// request is one operation of a client.
type request struct {
	At   time.Duration // when it ended; when it began, if it never did
	Took time.Duration
	Came history.Type // OK, Fail, or Info where nobody knows what came of it
}

// stretch is what ended in a stretch of time.
type stretch struct {
	Span
	OK, Failed, Open int
	Took             []time.Duration // of those that were answered, the shortest first
}

// mostStretches is into how many parts a run is divided.
const mostStretches = 240

// asks reports whether an op is of a client that asks nodes for what the election keeps.
func asks(op *history.Op) bool {
	switch op.F {
	case history.Get, history.Put, history.CAS, history.Acquire, history.Release, history.Txns:
		return true
	}
	return false
}

// request takes an op of a client.
func (c *collector) request(i int) {
	op := &c.h.Ops[i]
	other := c.h.Other(i)
	switch {
	case op.Type != history.Invoke && other >= 0:
		c.Requests = append(c.Requests, request{op.Time, op.Time - c.h.Ops[other].Time, op.Type})
	case op.Type == history.Invoke && other < 0:
		c.Requests = append(c.Requests, request{op.Time, 0, history.Info})
	}
}

// stretches divides the run into parts of one length.
func (tl *Timeline) stretches() []stretch {
	each := max(tl.End/mostStretches, time.Millisecond)
	all := make([]stretch, tl.End/each+1)
	for i := range all {
		all[i].Span = Span{time.Duration(i) * each, min(time.Duration(i+1)*each, tl.End)}
	}
	for _, r := range tl.Requests {
		s := &all[r.At/each]
		switch r.Came {
		case history.OK:
			s.OK++
			s.Took = append(s.Took, r.Took)
		case history.Fail:
			s.Failed++
		default:
			s.Open++
		}
	}
	for i := range all {
		slices.Sort(all[i].Took)
	}
	return all
}

// median is of those that were answered.
func (s *stretch) median() time.Duration { return s.Took[len(s.Took)/2] }

// words say what ended in it.
func (s *stretch) words() []string {
	lines := []string{fmt.Sprintf("clients, %s to %s: %d done, %d refused or failed, %d of which nobody knows", seconds(s.From), seconds(s.To), s.OK, s.Failed, s.Open)}
	if len(s.Took) > 0 {
		lines = append(lines, fmt.Sprintf("answers took %s in the median, %s at most", shortly(s.median()), shortly(s.Took[len(s.Took)-1])))
	}
	return lines
}

// paintRequests draws how many operations of clients ended, upwards those that were done and downwards all others, and how long answers took.
func (p *picture) paintRequests(y float64) float64 {
	if len(p.tl.Requests) == 0 || p.tl.End == 0 {
		return y
	}
	all := p.tl.stretches()
	y = p.section(y, "clients: operations a second, how long they took")
	y = p.paintRates(all, y)
	return p.paintTimes(all, y)
}

func (p *picture) paintRates(all []stretch, y float64) float64 {
	const up, down = 28.0, 14.0 // what failed at once may be many times more than what was done: it ends at the edge
	most := 1
	for i := range all {
		most = max(most, all[i].OK)
	}
	unit := up / float64(most)
	var b boxes
	row := hover{Y: y, H: up + down}
	for i := range all {
		s := &all[i]
		from, to := ms(s.From), ms(s.To)
		if s.OK > 0 {
			h := max(1, float64(s.OK)*unit)
			b.rect("asked done", from, to, up-h, h)
		}
		low := up
		for _, bad := range []struct {
			class string
			n     int
		}{{"asked failed", s.Failed}, {"asked open", s.Open}} {
			if bad.n > 0 && low < up+down {
				h := min(max(1.5, float64(bad.n)*unit), up+down-low)
				b.rect(bad.class, from, to, low, h)
				low += h
			}
		}
		row.Items = append(row.Items, hoverItem{from, to, s.words()})
	}
	b.rect("base", 0, ms(p.tl.End), up-0.5, 1)
	p.flush(&p.shapes, y, &b)
	p.name(y, 2*up-6, "done", "small")
	p.name(y, 2*up+2*down-6, "not done", "small")
	fmt.Fprintf(&p.fixed, `<text class="small scale" x="%s" y="%s">%s/s</text>`, num(p.left-6), num(y+7), rate(most, all[0].Length()))
	p.hovers = append(p.hovers, row)
	return y + up + down + 8
}

// rate is how many that is a second.
func rate(n int, in time.Duration) string {
	return fmt.Sprintf("%.3g", float64(n)/in.Seconds())
}

// paintTimes draws the time that answers took on a scale of decades: the median of each stretch, and above it up to the longest.
func (p *picture) paintTimes(all []stretch, y float64) float64 {
	const h, pad = 40.0, 5.0
	low, high := time.Duration(math.MaxInt64), time.Microsecond
	for i := range all {
		if took := all[i].Took; len(took) > 0 {
			low, high = min(low, max(took[0], time.Microsecond)), max(high, took[len(took)-1])
		}
	}
	if low > high {
		return y
	}
	from, to := decade(low), decade(high)
	if pow(to) < high {
		to++
	}
	to = max(to, from+1)
	at := func(d time.Duration) float64 {
		exact := math.Log10(float64(max(d, time.Microsecond)))
		return pad + (float64(to)-exact)/float64(to-from)*(h-2*pad)
	}
	var b boxes
	for e := from; e <= to; e++ {
		b.rect("decade", 0, ms(p.tl.End), at(pow(e))-0.5, 1)
	}
	row := hover{Y: y, H: h}
	for i := range all {
		s := &all[i]
		if len(s.Took) == 0 {
			continue
		}
		middle, top := at(s.median()), at(s.Took[len(s.Took)-1])
		b.rect("took most", ms(s.From), ms(s.To), top, max(middle-top, 1))
		b.rect("took median", ms(s.From), ms(s.To), middle-1, 2)
		row.Items = append(row.Items, hoverItem{ms(s.From), ms(s.To), s.words()})
	}
	p.flush(&p.shapes, y, &b)
	for _, e := range []int{from, to} {
		fmt.Fprintf(&p.fixed, `<text class="small scale" x="%s" y="%s">%s</text>`, num(p.left-6), num(y+at(pow(e))+3.5), shortly(pow(e)))
	}
	p.name(y, h, "took", "small")
	p.hovers = append(p.hovers, row)
	return y + h + 4
}

// decade is the exponent of the power of ten, in nanoseconds, that is no longer than a time.
func decade(d time.Duration) int { return int(math.Floor(math.Log10(float64(d)) + 1e-9)) }

func pow(e int) time.Duration { return time.Duration(math.Round(math.Pow10(e))) }
