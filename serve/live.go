package serve

import (
	"net/http"

	"recount/harness/record"
	"recount/report"
)

// livePage is a run while it happens, or played again.
type livePage struct {
	Run   *Run
	Kind  string // Live, or Replay once the run is over
	Names []string
	Chart report.Chart
	API   string
}

// watch leads to the run under way that began last, or waits for one.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	for _, run := range s.index.now().runs {
		if run.State == UnderWay {
			http.Redirect(w, r, link(run.ID)+"live", http.StatusSeeOther)
			return
		}
	}
	s.show(w, r, "watch", frame{Title: "Live", Tab: "live", Scripts: []string{"watch.js", "again.js"}, Page: s.activities()})
}

func (s *Server) live(w http.ResponseWriter, r *http.Request, run *Run) {
	known, err := s.runs.run(run.ID)
	if err != nil && (run.State == UnderWay || !noHistory(err)) { // a history that has not begun, perhaps
		known, err = record.OutlineFS(s.folder(run))
	}
	if err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, run.problem(err))
		return
	}
	p := livePage{Run: run, Kind: "Replay", Names: known.Nodes, Chart: report.NewChart(known), API: "/api/v1" + link(run.ID)}
	if run.State == UnderWay {
		p.Kind = "Live"
	}
	s.show(w, r, "live", frame{Title: p.Kind + ": " + run.Title, Tab: "live", Scripts: []string{"report.js", "live.js"}, Page: p})
}

// apiPicture is GET /api/v1/runs/{id}/picture: the timeline as far as the history goes.
func (s *Server) apiPicture(w http.ResponseWriter, r *http.Request, run *Run) {
	full, err := s.runs.run(run.ID)
	if err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, run.problem(err))
		return
	}
	answer(w, struct {
		report.Chart
		Ops int `json:"ops"`
	}{report.NewChart(full), len(full.History.Ops)})
}
