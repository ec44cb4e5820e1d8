package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"recount/checkers"
	"recount/harness/record"
	"recount/internal/term"
)

//go:embed page.html
var pageTemplate string

// What the page shows, without the frame around it.
//
//go:embed body.html
var bodyTemplate string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"seconds": seconds,
	"instant": func(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) },
	"ms":      ms,
	"clip":    term.Clip,
	"holds":   Holds,
	"href":    Href,
}).Parse(bodyTemplate + pageTemplate))

// view is what the page's template shows.
type view struct {
	Run      *record.Run
	Headline string
	Mark     string // the status in one character
	Tone     string // the style that goes with it
	Debug    string // the command that shows what servers were at
	Seen     *card  // the violation that tells most
	Sentence string
	Facts    [][2]string
	Settings [][2]string
	Findings []card // violations, and what should have been decided
	Others   []card
	Empty    bool

	CSS      template.CSS
	JS       template.JS
	Alt      string
	ViewBox  string
	Picture  template.HTML
	Overview template.HTML
	Legend   []LegendEntry
	Omitted  string
	Data     *chartData
	Rows     []row
	Left     int    // ops of the history that the table leaves out
	Nemesis  [2]int // how many ops of the nemesis the table has, and the history
	Files    []file
}

// card is one verdict.
type card struct {
	*record.Verdict
	N        int // its number in the timeline, 0 for none
	Sign     string
	Tone     string
	Standing string
	Cited    []int // ops that are in the table
	More     int   // ops that are not
	From, To time.Duration
	Picture  string // porcupine's own
}

// HTML writes the run as one page that needs nothing else: no network, no other file.
func HTML(w io.Writer, r *record.Run) error {
	var lies fs.FS
	if r.Dir != "" {
		lies = os.DirFS(r.Dir)
	}
	v := newView(r, lies, reports...)
	v.CSS, v.JS = Style()+PageStyle(), template.JS(pageJS)
	return v.write(w, "page")
}

// Body writes what the page shows, for a page that brings its own frame: Style, PageStyle and Script go with it. What lies
// in the run's folder is linked relative to the page; lies may be nil.
func Body(w io.Writer, r *record.Run, lies fs.FS) error { return newView(r, lies).write(w, "body") }

// PageStyle is the style sheet of a run's page and its timeline, after Style.
func PageStyle() template.CSS {
	return template.CSS(strings.Replace(pageCSS, "/*timeline*/", stylesheet, 1))
}

// Script is the script of a run's page. Without it the page stands, and does not move.
func Script() string { return pageJS }

// Chart is a run's timeline for a page that puts it in its place: what is within its picture and its overview, which are svg
// elements of class tl, and what Script needs to know of it. Script takes another one with an event "picture" of the element.
type Chart struct {
	Body     template.HTML `json:"body"`
	Overview template.HTML `json:"overview"`
	Data     any           `json:"data"`
	Alt      string        `json:"alt"`
}

// NewChart paints a run's timeline.
func NewChart(r *record.Run) Chart {
	p := paint(Trace(r), 1280)
	var body, overview bytes.Buffer
	p.body(&body)
	p.overview(&overview)
	return Chart{template.HTML(body.String()), template.HTML(overview.String()), p.data(), alt(r)}
}

func newView(r *record.Run, lies fs.FS, soon ...string) *view {
	tl := Trace(r)
	p := paint(tl, 1280)
	rows := tl.table(r)
	var body, overview bytes.Buffer
	p.body(&body)
	p.overview(&overview)
	v := &view{
		Run: r, Headline: headline(r), Sentence: Sentence(r), Debug: debugging(r), Facts: pageFacts(r), Empty: tl.End == 0,
		Alt: alt(r), ViewBox: fmt.Sprintf("0 0 %s %s", num(p.width), num(p.height)),
		Picture: template.HTML(body.String()), Overview: template.HTML(overview.String()), Data: p.data(), Rows: rows,
	}
	for _, k := range slices.Sorted(maps.Keys(r.Options)) {
		v.Settings = append(v.Settings, [2]string{k, r.Options[k]})
	}
	if r.History != nil {
		v.Left = len(r.History.Ops) - len(rows)
		for i := range rows {
			if ofNemesis(rows[i].Op) {
				v.Nemesis[0]++
			}
		}
		for i := range r.History.Ops {
			if ofNemesis(&r.History.Ops[i]) {
				v.Nemesis[1]++
			}
		}
	}
	v.Legend = p.entries()
	v.Omitted = strings.Join(p.omitted, "; ")
	v.cards(tl, rows, drawingsIn(lies))
	v.Mark, v.Tone = statusMark(r.Status)
	if len(v.Findings) > 0 && v.Findings[0].Verdict.Verdict == checkers.Invalid {
		v.Seen = &v.Findings[0]
		if r.Status == record.StatusHeld { // green would say that all was well
			v.Mark, v.Tone = "!", v.Seen.Tone
		}
	}
	v.Files = files(r, lies, soon...)
	return v
}

// write writes one of the page's templates.
func (v *view) write(w io.Writer, name string) error {
	var b bytes.Buffer
	if err := page.ExecuteTemplate(&b, name, v); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

func statusMark(status int) (mark, tone string) {
	switch status {
	case record.StatusHeld:
		return "✓", "held"
	case record.StatusBroken:
		return "✕", "broken"
	case record.StatusUnknown:
		return "?", "open"
	}
	return "!", "broken"
}

func pageFacts(r *record.Run) [][2]string {
	facts := [][2]string{{"target", r.Target}, {"cluster", r.Cluster}, {"nodes", fmt.Sprint(len(r.Nodes))}, {"seed", fmt.Sprint(r.Seed)}}
	if r.History != nil && len(r.History.Ops) > 0 {
		ops := r.History.Ops
		f := r.History.Frame()
		length := seconds(ops[len(ops)-1].Time)
		if f.Untimed() {
			length = "not told: only the order of the ops is known"
		}
		facts = append(facts, [2]string{"length", length}, [2]string{"ops", fmt.Sprint(r.History.Happened())})
		if still, much := f.Standstills().Much(f.Last); much {
			facts = append(facts, [2]string{"the machine stood still", "for " + seconds(still)})
		}
	}
	if r.Took > 0 {
		facts = append(facts, [2]string{"took, by the wall clock", seconds(r.Took)})
	}
	if !r.Started.IsZero() {
		facts = append(facts, [2]string{"started", r.Started.Format("2006-01-02 15:04:05 -0700")})
	}
	return append(facts, [2]string{"exit status", fmt.Sprint(r.Status)})
}

func (v *view) cards(tl *Timeline, rows []row, drawn map[string]string) {
	numbers := map[*record.Verdict]*violation{}
	for i := range tl.Violations {
		numbers[tl.Violations[i].Verdict] = &tl.Violations[i]
	}
	shown := map[int]bool{}
	for _, r := range rows {
		shown[r.Index] = true
	}
	for _, d := range ranked(v.Run) {
		c := card{Verdict: d, Standing: meaning(d), From: d.From, To: d.To, Picture: drawn[d.Property]}
		c.Sign, _ = sign(d)
		c.Tone = map[checkers.Verdict]string{checkers.Valid: "held", checkers.Invalid: "weak", checkers.Unknown: "open"}[d.Verdict]
		if d.Meaning().Fails() || d.Meaning() == record.Unseen {
			c.Tone = "broken"
		}
		if f := numbers[d]; f != nil {
			c.N, c.From, c.To = f.N, f.From, f.To
		}
		for _, op := range d.Ops {
			if shown[op] && len(c.Cited) < 40 {
				c.Cited = append(c.Cited, op)
			} else {
				c.More++
			}
		}
		if d.Verdict == checkers.Invalid || d.Meaning().Fails() || d.Meaning().Open() {
			v.Findings = append(v.Findings, c)
		} else {
			v.Others = append(v.Others, c)
		}
	}
}

// drawingsIn returns porcupine's pictures in a run's folder, by property.
func drawingsIn(lies fs.FS) map[string]string {
	found := map[string]string{}
	if lies == nil {
		return found
	}
	paths, err := fs.Glob(lies, record.Drawings+"/*.html")
	if err != nil {
		return found // no pattern of ours is malformed; a folder that cannot be read has no pictures
	}
	for _, p := range paths {
		found[strings.TrimSuffix(path.Base(p), ".html")] = p
	}
	return found
}
