package serve

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"recount/harness"
	"recount/harness/matrix"
	"recount/internal/count"
	"recount/report"
)

// How pages are made: each is the shell with a part of its own.

//go:embed web
var web embed.FS

// newPages are the pages of a server that goes by a clock.
func newPages(now func() time.Time) *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"ago": func(t time.Time) string { return count.Ago(t, now()) },
		"day": day, "seconds": report.Seconds, "link": link,
		"ms":      func(d *time.Duration) float64 { return float64(*d) / float64(time.Millisecond) },
		"percent": func(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) },
		"tabs":    func() []place { return tabs },
		"short":   short, "figure": figure, "instant": instant, "campaign": campaignLink, "views": views, "choose": choose, "times": times,
		"legend": report.Legend, "holds": report.Holds,
	}).ParseFS(web, "web/*.html"))
}

// frame is what the shell shows around a page.
type frame struct {
	Title   string
	Tab     string // of the navigation
	Scripts []string
	Version string
	Next    string // the address that follows by itself
	Page    any
}

func (s *Server) show(w http.ResponseWriter, r *http.Request, name string, f frame) {
	f.Version = harness.Version
	f.Scripts = append([]string{"app.js", "save.js"}, f.Scripts...)
	var b bytes.Buffer
	if err := s.pages.ExecuteTemplate(&b, name, f); err != nil {
		s.fail(w, r, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	write(w, b.Bytes())
}

// fail answers with what went wrong: to scripts as JSON, to people as a page.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, status int, words string) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		encode(w, map[string]string{"error": words})
		return
	}
	var b bytes.Buffer
	f := frame{Title: http.StatusText(status), Version: harness.Version, Page: words}
	if err := s.pages.ExecuteTemplate(&b, "problem", f); err != nil {
		http.Error(w, words, status)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	write(w, b.Bytes())
}

// nothing answers for addresses that nothing has.
func (s *Server) nothing(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, http.StatusNotFound, "There is nothing at this address.")
}

// write ends an answer. A browser that has gone away is none of this server's business.
func write(w http.ResponseWriter, b []byte) { _, _ = w.Write(b) }

// assets are what pages load besides: style sheets and scripts, by name.
var assets = func() map[string][]byte {
	read := func(name string) []byte {
		b, err := web.ReadFile("web/" + name)
		if err != nil {
			panic(err) // it is embedded, or the program would not have been built
		}
		return b
	}
	all := map[string][]byte{
		"style.css": []byte(string(report.Style()) + string(report.PageStyle()) + string(matrix.Style()) + string(read("style.css"))),
		"report.js": []byte(report.Script()),
	}
	for _, name := range []string{"app.js", "save.js", "ops.js", "live.js", "watch.js", "diagram.js", "keys.js", "grid.js", "again.js", "icon.svg"} {
		all[name] = read(name)
	}
	return all
}()

var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

func asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	b, known := assets[name]
	if !known {
		http.NotFound(w, r)
		return
	}
	sum := sha256.Sum256(b)
	w.Header().Set("Content-Type", assetTypes[path.Ext(name)])
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(b))
}

// link is the address of a run's page.
func link(id string) string { return (&url.URL{Path: "/runs/" + id + "/"}).EscapedPath() }

// place is where a link leads.
type place struct{ Name, Word, Path string }

var tabs = []place{
	{"findings", "Findings", "/"},
	{"runs", "Runs", "/runs"},
	{"live", "Live", "/live"},
	{"campaigns", "Campaigns", "/campaigns"},
	{"compare", "Compare", "/compare"},
	{"matrix", "Matrix", "/matrix"},
	{"coverage", "Coverage", "/coverage"},
	{"trends", "Trends", "/trends"},
	{"search", "Search", "/search"},
}

// views are the ways of looking at a run, and the forms in which it can be taken away.
func views(r *Run) []place {
	replay := "replay"
	if r.State == UnderWay {
		replay = "watch it live"
	}
	return []place{
		{Word: replay, Path: "live"},
		{Word: "message by message", Path: "diagram"},
		{Word: "compare", Path: "/compare?" + url.Values{"a": {r.ID}}.Encode()},
		{Word: "SVG", Path: "picture.svg"},
		{Word: "CSV", Path: "ops.csv"},
		{Word: "Perfetto", Path: "run.perfetto"},
	}
}

// choice is a list to choose from in a form.
type choice struct {
	Name, Now string
	All       []string
}

func choose(name, now string, all []string) choice { return choice{name, now, all} }

// figure writes a number to three digits or the point.
func figure(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// short writes a number in three characters.
func short(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 100_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return "∞"
}

// day writes a time for people, to the second.
func day(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.Format("2006-01-02 15:04:05")
}

// campaignLink is the address of a campaign's page.
func campaignLink(id string) string {
	return (&url.URL{Path: "/campaigns/" + strings.TrimPrefix(id, "campaigns/")}).EscapedPath()
}
