package report

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"recount/harness/record"
)

// entry is one line of the legend: a sample, drawn in a box of 26 by 14, and what it means.
type entry struct {
	Sample string
	Text   string
}

// legend explains what occurs in the picture, and nothing else.
func (p *picture) legend() (es []entry) {
	uses := func(class string) bool {
		for u := range p.used {
			if strings.HasPrefix(u, class) {
				return true
			}
		}
		return false
	}
	add := func(class, sample, text string) {
		if uses(class) {
			es = append(es, entry{sample, text})
		}
	}
	box := func(class string) string { return fmt.Sprintf(`<path class="%s" d="M1 1h24v12h-24z"/>`, class) }
	strip := func(class string) string { return fmt.Sprintf(`<path class="%s" d="M1 3h24v8h-24z"/>`, class) }
	add("lead", box("lead id0"), "leads (number: its term)")
	add("follow tint", strip("tint0"), "follows the node of that colour")
	add("follow nobody", strip("nobody"), "follows nobody")
	add("candidate", box("candidate"), "candidate")
	add("unknown", strip("unknown"), "not observed")
	add("paused", box("tint0")+box("paused"), "paused")
	add("down", `<path class="down" d="M1 6.2h24v1.6h-24z"/>`, "down")
	add("alarm", `<path class="alarm" d="M9 1v12M17 1v12"/>`, "alarm in its log")
	add("off", strip("nobody")+`<path class="off" d="M1 11h24v2h-24z"/>`, "cut off from a majority")
	add("both", `<path class="both" d="M1 5h24v4h-24z"/>`, "two claim to lead at once")
	add("both sharp", `<path class="both sharp" d="M1 5h24v4h-24z"/>`, "… in one term")
	add("write", `<path class="write id0" d="M5 13v-11M10 13v-11M15 13v-11"/>`, "write accepted (number: its token)")
	add("write wrong down", `<path class="write wrong" d="M8 2v11M14 2v11"/>`, "write rejected")
	if p.used["write wrong"] {
		es = append(es, entry{`<path class="write wrong" d="M8 14v-14M14 14v-14"/>`, "stale write accepted"})
	}
	add("asked done", strip("asked done"), "clients' operations done")
	add("asked failed", strip("asked failed"), "refused or failed")
	add("asked open", strip("asked open"), "nobody knows")
	add("took", `<path class="took most" d="M1 2h24v7h-24z"/><path class="took median" d="M1 9h24v2h-24z"/>`, "answers took: the median, up to the longest")
	add("link cut", strip("link cut"), "link down")
	add("link slow", strip("link slow"), "link impaired")
	add("link unsure", strip("link unsure"), "link: effect not seen")
	add("clock wall", `<path class="clock wall" d="M1 11h8v-8h16"/>`, "wall clock")
	add("clock monotonic", `<path class="clock monotonic" d="M1 11l24 -8"/>`, "monotonic clock")
	add("fault took", strip("fault took")+`<path class="edge" d="M2 2v10M24 2v10"/>`, "fault, inject to heal")
	add("begun", strip("begun"), "fault begun, not yet known to have taken effect")
	add("fault failed", `<path class="edge failed" d="M13 1v12"/>`, "fault without effect")
	add("stall", box("stall"), "the machine stood still")
	if len(p.tl.Violations) > 0 {
		es = append(es, entry{fmt.Sprintf(`<circle class="dot %s" cx="13" cy="7" r="3.6"/>`, p.tl.Violations[0].Tone()), "evidence"})
	}
	return es
}

func (e entry) width() float64 { return 34 + textWidth(e.Text)*0.95 + 20 }

// LegendEntry is one line of a legend for a page: a sample, drawn in a box of 26 by 14, and what it means.
type LegendEntry struct {
	Sample template.HTML
	Text   string
}

// Legend explains what pictures show whose parts are not known beforehand: of nodes, and, with faults, of what befell them all.
func Legend(faults bool) []LegendEntry {
	p := &picture{tl: &Timeline{}, used: map[string]bool{"lead": true, "follow tint": true, "follow nobody": true, "candidate": true, "paused": true, "down": true}}
	if faults {
		for _, class := range []string{"unknown", "off", "both", "both sharp", "link cut", "link slow", "fault took", "fault failed"} {
			p.used[class] = true
		}
		p.tl.Violations = []violation{{Verdict: &record.Verdict{}}}
	}
	return p.entries()
}

// entries is the legend for a page.
func (p *picture) entries() (es []LegendEntry) {
	for _, e := range p.legend() {
		es = append(es, LegendEntry{template.HTML(e.Sample), e.Text})
	}
	return es
}

const legendRow = 20.0

func (p *picture) legendHeight(width float64) float64 {
	x, rows := 0.0, 1.0
	for _, e := range p.legend() {
		if x > 0 && x+e.width() > width {
			x, rows = 0, rows+1
		}
		x += e.width()
	}
	return rows*legendRow + 6
}

// legendRows writes the legend into a picture that stands alone. Its samples are not stretched, so neither are the
// patterns in them.
func (p *picture) legendRows(w *bytes.Buffer, width float64) {
	x, y := 12.0, 0.0
	for _, e := range p.legend() {
		if x > 12 && x-12+e.width() > width {
			x, y = 12, y+legendRow
		}
		fmt.Fprintf(w, `<g transform="translate(%s,%s)">%s<text class="legend" x="32" y="11">%s</text></g>`,
			num(x), num(y), e.Sample, escape(e.Text))
		x += e.width()
	}
}
