// Package serve shows a folder of results in a browser: runs while they happen and all that was ever kept, as pages and as
// a JSON API. It reads, and never writes.
//
// All that lies in the folder is material of systems under test, and hostile until shown otherwise: what is read from it
// goes through [os.Root], which follows no link out of it, and what a URL names is looked up in the index, never in the
// file system.
package serve

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"recount/internal/hint"
)

// Config says what to show, and to whom.
type Config struct {
	Results string // the folder
	// Token is what a browser must bring; "" is nothing. Without one the server answers only to names of this machine.
	Token string
	Now   func() time.Time // nil is the calendar
}

// Server answers for one folder of results. It is safe for concurrent use.
type Server struct {
	Config
	root  *os.Root
	index *index
	runs  *cache

	repeated repeated
}

// New opens a folder of results and reads what lies in it.
func New(cfg Config) (*Server, error) {
	root, err := os.OpenRoot(cfg.Results)
	if err != nil {
		return nil, hint.Add(fmt.Errorf("results folder: %w", err), "a run makes one; --results DIR names another place")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Server{Config: cfg, root: root, index: newIndex(root, cfg.Now), runs: newCache(root)}
	if err := s.index.refresh(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

// Close gives the folder back.
func (s *Server) Close() error { return s.root.Close() }

// Len is how many runs are known.
func (s *Server) Len() int { return len(s.index.now().runs) }

// Handler is the whole site.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("GET /runs", s.list)
	mux.HandleFunc("GET /runs/{path...}", s.run)
	mux.HandleFunc("GET /live", s.watch)
	mux.HandleFunc("GET /assets/{name}", asset)
	mux.HandleFunc("GET /api/v1/runs", s.apiRuns)
	mux.HandleFunc("GET /api/v1/runs/{path...}", s.apiRun)
	mux.HandleFunc("GET /api/v1/findings", s.apiFindings)
	return s.guard(mux)
}
