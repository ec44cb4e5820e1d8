package serve

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"recount/harness/record"
	"recount/internal/count"
	"recount/report"
)

// strip is a run small, for cards.
const strip = "strip.svg"

// find looks up the run that a path within /runs/ begins with, and what follows it. A path that names nothing begins with no run: one
// with %2F in its address can be any text.
func (s *Server) find(p string) (run *Run, rest string) {
	dir := strings.TrimSuffix(p, "/")
	if !fs.ValidPath(dir) {
		return nil, ""
	}
	for shot := s.index.now(); dir != "."; dir = path.Dir(dir) {
		if run := shot.byID[dir]; run != nil {
			return run, strings.TrimPrefix(p[len(dir):], "/")
		}
	}
	return nil, ""
}

// latest returns the path within /runs/ that one with "latest" in the place of a run stands for, if it has that and there is a run.
func (s *Server) latest(p string) (of string, is bool) {
	rest, is := strings.CutPrefix(p+"/", "latest/")
	shot := s.index.now()
	if !is || len(shot.runs) == 0 {
		return p, false
	}
	return shot.runs[0].ID + "/" + strings.TrimSuffix(rest, "/"), true
}

// noRun answers for a path within /runs/ that begins with no run.
func (s *Server) noRun(w http.ResponseWriter, r *http.Request, p string) {
	if first, _, _ := strings.Cut(p, "/"); first == "latest" {
		s.fail(w, r, http.StatusNotFound, "There is no run among the results yet: latest is the newest.")
		return
	}
	s.fail(w, r, http.StatusNotFound, "There is no such run among the results.")
}

// run answers for a run's page, its pictures, and the files in its folder.
func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	p := r.PathValue("path")
	if of, is := s.latest(p); is {
		http.Redirect(w, r, (&url.URL{Path: "/runs/" + of, RawQuery: r.URL.RawQuery}).String(), http.StatusSeeOther)
		return
	}
	run, rest := s.find(p)
	switch {
	case run == nil:
		s.noRun(w, r, p)
	case rest == "" && !strings.HasSuffix(p, "/"):
		http.Redirect(w, r, (&url.URL{Path: "/runs/" + run.ID + "/", RawQuery: r.URL.RawQuery}).String(), http.StatusMovedPermanently)
	case rest == "":
		s.page(w, r, run)
	case rest == "live":
		s.live(w, r, run)
	case rest == "diagram":
		s.diagram(w, r, run)
	case exports[rest].write != nil:
		s.export(w, r, run, rest)
	case rest == strip:
		s.draw(w, r, run, rest, report.Strip)
	case rest == "picture.svg":
		s.draw(w, r, run, rest, report.SVG)
	default:
		s.file(w, r, run, rest)
	}
}

// runPage is a run in the shell.
type runPage struct {
	Run     *Run
	Body    template.HTML
	Problem string   // why there is no body
	Stored  []string // the reports that lie in its folder, to look at instead
	Picture bool     // the timeline is one of them
	Ops     int
	Names   []string
	At      *time.Duration // the instant to look at, if somebody has asked for one
}

func (s *Server) page(w http.ResponseWriter, r *http.Request, run *Run) {
	p := runPage{Run: run}
	q := queryOf(r)
	if p.At = q.instant(); s.refuses(w, r, q) {
		return
	}
	if s.soon(run) && !q.Has("whole") {
		// The picture that lies in the folder is there at once; the page itself takes the time to read the history.
		q.Set("whole", "")
		s.show(w, r, "soon", frame{Title: run.Mark() + " " + run.Title, Tab: "runs", Next: "?" + q.Encode(), Page: p})
		return
	}
	full, err := s.runs.run(run.ID)
	if err == nil {
		var body []byte
		body, err = s.drawn.get(run.ID, "body", lastWritten(s.folder(run)), func() ([]byte, error) {
			var b bytes.Buffer
			err := report.Body(&b, full, s.folder(run))
			return b.Bytes(), err
		})
		p.Body, p.Ops, p.Names = template.HTML(body), len(full.History.Ops), full.Nodes
	}
	if err != nil {
		p.Problem = run.problem(err)
		p.Stored = report.Stored(s.folder(run))
		p.Picture = slices.Contains(p.Stored, report.PictureFile)
	}
	s.show(w, r, "run", frame{Title: run.Mark() + " " + run.Title, Tab: "runs", Scripts: []string{"report.js", "ops.js"}, Page: p})
}

// soon reports whether a run's page takes so long that its picture is shown first.
func (s *Server) soon(run *Run) bool {
	folder := s.folder(run)
	if run.State == UnderWay || run.State == Unreadable || !large(folder) || s.runs.has(run.ID, lastWritten(folder)) {
		return false
	}
	_, err := fs.Stat(folder, report.PictureFile)
	return err == nil
}

// folder is what lies in a run's folder.
func (s *Server) folder(run *Run) fs.FS {
	folder, err := fs.Sub(s.fsys, run.ID)
	if err != nil {
		return nil // it is in the index, so its name is one
	}
	return folder
}

// draw answers with a picture of a run. Pictures bring their own style, and no script.
func (s *Server) draw(w http.ResponseWriter, r *http.Request, run *Run, name string, paint func(io.Writer, *record.Run) error) {
	was := lastWritten(s.folder(run))
	svg, err := s.drawn.get(run.ID, name, was, func() ([]byte, error) {
		full, err := s.runs.run(run.ID)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = paint(&b, full)
		return b.Bytes(), err
	})
	switch {
	case err != nil && name == strip:
		var b bytes.Buffer
		if err := report.NoStrip(&b, run.problem(err)); err != nil {
			s.fail(w, r, http.StatusInternalServerError, err.Error())
			return
		}
		picture(w, r, was, b.Bytes())
	case err != nil:
		s.fail(w, r, http.StatusUnprocessableEntity, run.problem(err))
	default:
		picture(w, r, was, svg)
	}
}

// picture answers with an SVG.
func picture(w http.ResponseWriter, r *http.Request, was time.Time, svg []byte) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	w.Header().Set("Content-Type", "image/svg+xml")
	http.ServeContent(w, r, "", was, bytes.NewReader(svg))
}

// shown are the kinds of files that browsers may show as what they are. All others are text to them.
var shown = map[string]string{".html": "text/html; charset=utf-8", ".svg": "image/svg+xml", ".json": "application/json", ".gz": "application/gzip"}

// file answers with a file of a run's folder, as it lies there.
func (s *Server) file(w http.ResponseWriter, r *http.Request, run *Run, name string) {
	if !fs.ValidPath(name) {
		s.fail(w, r, http.StatusNotFound, "There is no such file in the run's folder.")
		return
	}
	f, err := s.fsys.Open(path.Join(run.ID, name))
	if err != nil {
		s.fail(w, r, http.StatusNotFound, "There is no such file in the run's folder.")
		return
	}
	defer f.Close()
	info, err := f.Stat()
	content, seeks := f.(io.ReadSeeker)
	if err != nil || info.Mode().Type()&^fs.ModeIrregular != 0 || !seeks {
		s.fail(w, r, http.StatusNotFound, "There is no such file in the run's folder.")
		return
	}
	kind := shown[path.Ext(name)]
	if kind == "" {
		kind = "text/plain; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Security-Policy", sandbox)
	http.ServeContent(w, r, "", info.ModTime(), content)
}

// Facts are what a run is besides its title, in a line.
func (r *Run) Facts() string {
	where := map[string]string{record.OnSim: "simulated", record.OnVirtual: "real servers in virtual time", record.OnDocker: "in containers"}
	words := []string{where[r.Cluster]}
	if r.Title != r.Target {
		words = append([]string{r.Target}, words...)
	}
	return strings.Join(append(words, count.Of(r.Nodes, "node"), fmt.Sprintf("seed %d", r.Seed)), " · ")
}
