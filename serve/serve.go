// Package serve shows a folder of results in a browser: runs while they happen and all that was ever kept, as pages and as
// a JSON API. It reads, and never writes.
//
// All that lies in the folder is material of systems under test, and hostile until shown otherwise: what is read from it
// goes through [os.Root], which follows no link out of it, or to a bucket, which has none; and what a URL names is looked up in the index, never in the
// file system.
package serve

import (
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"time"

	"recount/harness/record"
)

// Config says what to show, and to whom.
type Config struct {
	Results string // a folder, or the URL of a folder or a bucket
	// Token is what a browser must bring; "" is nothing. Without one the server answers only to names of this machine.
	Token string
	Now   func() time.Time // nil is the calendar
}

// Server answers for one folder of results. It is safe for concurrent use.
type Server struct {
	Config
	fsys  fs.FS
	done  func() error
	pages *template.Template
	index *index
	runs  *cache

	repeated repeated
	tables   tables
	digests  digests
	drawn    drawn
}

// New opens results and reads what lies in them.
func New(cfg Config) (*Server, error) {
	fsys, done, err := openResults(cfg.Results)
	if err != nil {
		return nil, err
	}
	s := newServer(cfg, fsys, done)
	if err := s.index.refresh(); err != nil {
		return nil, errors.Join(err, done())
	}
	return s, nil
}

func newServer(cfg Config, fsys fs.FS, done func() error) *Server {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Server{Config: cfg, fsys: fsys, done: done, pages: newPages(cfg.Now), index: newIndex(fsys, cfg.Now), runs: newCache(fsys)}
	s.tables.kept.room, s.drawn.kept.room = mostTables, mostDrawn
	s.digests.read, s.digests.clock = s.digest, cfg.Now
	return s
}

// digest reads a run for its digest: past the cache, which is for what somebody looks at, unless that is it.
func (s *Server) digest(id string) (*digest, error) {
	folder, err := fs.Sub(s.fsys, id)
	if err != nil {
		return nil, err
	}
	read := readWhole
	if s.runs.has(id, lastWritten(folder)) {
		read = func(fs.FS) (*record.Run, error) { return s.runs.run(id) }
	}
	r, err := read(folder)
	if err != nil {
		return nil, err
	}
	return newDigest(r), nil
}

// Close gives the results back, once no run is read for its digest any more. A look at the folders that is under way fails.
func (s *Server) Close() error {
	s.digests.close()
	return s.done()
}

// Len is how many runs are known.
func (s *Server) Len() int { return len(s.index.now().runs) }

// Handler is the whole site.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("GET /", s.nothing)
	mux.HandleFunc("GET /runs", s.list)
	mux.HandleFunc("GET /runs/{path...}", s.run)
	mux.HandleFunc("GET /live", s.watch)
	mux.HandleFunc("GET /compare", s.comparePage)
	mux.HandleFunc("GET /compare.svg", s.compareSVG)
	mux.HandleFunc("GET /matrix", s.matrices)
	mux.HandleFunc("GET /matrix/{path...}", s.matrix)
	mux.HandleFunc("GET /coverage", s.coverage)
	mux.HandleFunc("GET /trends", s.trendsPage)
	mux.HandleFunc("GET /search", s.searchPage)
	mux.HandleFunc("GET /campaigns", s.campaignsPage)
	mux.HandleFunc("GET /campaigns/{path...}", s.campaignPage)
	mux.HandleFunc("GET /under-way/{path...}", s.underWay)
	mux.HandleFunc("GET /assets/{name}", asset)
	mux.HandleFunc("GET /api/v1/runs", s.apiRuns)
	mux.HandleFunc("GET /api/v1/runs/{path...}", s.apiRun)
	mux.HandleFunc("GET /api/v1/findings", s.apiFindings)
	mux.HandleFunc("GET /api/v1/compare", s.apiCompare)
	mux.HandleFunc("GET /api/v1/coverage", s.apiCoverage)
	mux.HandleFunc("GET /api/v1/trends", s.apiTrends)
	mux.HandleFunc("GET /api/v1/search", s.apiSearch)
	mux.HandleFunc("GET /api/v1/campaigns", s.apiCampaigns)
	mux.HandleFunc("GET /api/v1/campaigns/{path...}", s.apiCampaign)
	mux.HandleFunc("GET /api/v1/activities", s.apiActivities)
	mux.HandleFunc("GET /api/v1/matrices", s.apiMatrices)
	mux.HandleFunc("GET /api/v1/matrices/{path...}", s.apiMatrix)
	return s.guard(mux)
}
