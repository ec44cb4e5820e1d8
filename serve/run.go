package serve

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"recount/harness/record"
	"recount/report"
)

// find looks up the run that a path within /runs/ begins with, and what follows it.
func (s *Server) find(p string) (run *Run, rest string) {
	shot := s.index.now()
	for dir := strings.TrimSuffix(p, "/"); dir != "" && dir != "."; dir = path.Dir(dir) {
		if run := shot.byID[dir]; run != nil {
			return run, strings.TrimPrefix(p[len(dir):], "/")
		}
	}
	return nil, ""
}

// run answers for a run's page, its pictures, and the files in its folder.
func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	p := r.PathValue("path")
	if shot := s.index.now(); p == "latest" && len(shot.runs) > 0 {
		http.Redirect(w, r, link(shot.runs[0].ID), http.StatusSeeOther)
		return
	}
	run, rest := s.find(p)
	switch {
	case run == nil:
		s.fail(w, r, http.StatusNotFound, "There is no such run among the results.")
	case rest == "" && !strings.HasSuffix(p, "/"):
		http.Redirect(w, r, link(run.ID), http.StatusMovedPermanently)
	case rest == "":
		s.page(w, r, run)
	case rest == "live":
		s.live(w, r, run)
	case rest == "diagram":
		s.diagram(w, r, run)
	case exports[rest].write != nil:
		s.export(w, r, run, rest)
	case rest == "strip.svg":
		s.draw(w, r, run, report.Strip)
	case rest == "picture.svg":
		s.draw(w, r, run, report.SVG)
	default:
		s.file(w, r, run, rest)
	}
}

// runPage is a run in the shell.
type runPage struct {
	Run     *Run
	Body    template.HTML
	Problem string // why there is no body
	Ops     int
	Names   []string
}

func (s *Server) page(w http.ResponseWriter, r *http.Request, run *Run) {
	p := runPage{Run: run}
	full, err := s.runs.run(run.ID)
	if err == nil {
		var b bytes.Buffer
		if err = report.Body(&b, full, s.folder(run)); err == nil {
			p.Body, p.Ops, p.Names = template.HTML(b.String()), len(full.History.Ops), full.Nodes
		}
	}
	if err != nil {
		p.Problem = problem(err)
	}
	s.show(w, r, "run", frame{Title: run.Mark() + " " + run.Title, Tab: "runs", Scripts: []string{"report.js", "ops.js"}, Page: p})
}

// folder is what lies in a run's folder.
func (s *Server) folder(run *Run) fs.FS {
	folder, err := fs.Sub(s.root.FS(), run.ID)
	if err != nil {
		return nil // it is in the index, so its name is one
	}
	return folder
}

// draw answers with a picture of a run. Pictures bring their own style, and no script.
func (s *Server) draw(w http.ResponseWriter, r *http.Request, run *Run, paint func(io.Writer, *record.Run) error) {
	full, err := s.runs.run(run.ID)
	var b bytes.Buffer
	if err == nil {
		err = paint(&b, full)
	}
	if err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, problem(err))
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	w.Header().Set("Content-Type", "image/svg+xml")
	http.ServeContent(w, r, "", lastWritten(s.folder(run)), bytes.NewReader(b.Bytes()))
}

// shown are the kinds of files that browsers may show as what they are. All others are text to them.
var shown = map[string]string{".html": "text/html; charset=utf-8", ".svg": "image/svg+xml", ".json": "application/json", ".gz": "application/gzip"}

// file answers with a file of a run's folder, as it lies there.
func (s *Server) file(w http.ResponseWriter, r *http.Request, run *Run, name string) {
	if !fs.ValidPath(name) {
		s.fail(w, r, http.StatusNotFound, "There is no such file in the run's folder.")
		return
	}
	f, err := s.root.Open(path.Join(run.ID, name))
	if err != nil {
		s.fail(w, r, http.StatusNotFound, "There is no such file in the run's folder.")
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		s.fail(w, r, http.StatusNotFound, "There is no such file in the run's folder.")
		return
	}
	kind := shown[path.Ext(name)]
	if kind == "" {
		kind = "text/plain; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Security-Policy", sandbox)
	http.ServeContent(w, r, "", info.ModTime(), f)
}

// Facts are what a run is, in a line.
func (r *Run) Facts() string {
	words := []string{r.Target}
	if r.Cluster == record.OnDocker {
		words = append(words, "in containers")
	} else {
		words = append(words, "simulated")
	}
	return strings.Join(append(words, fmt.Sprintf("%d nodes", r.Nodes), fmt.Sprintf("seed %d", r.Seed)), " · ")
}
