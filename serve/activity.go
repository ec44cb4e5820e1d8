package serve

import (
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"recount/harness/batch"
	"recount/harness/campaign"
	"recount/harness/record"
	"recount/internal/count"
	"recount/internal/whole"
)

// Activity is a hunt, a matrix or a campaign under way, as far as its folder tells.
type Activity struct {
	batch.Noted
	ID     string        `json:"id"`
	Seen   time.Time     `json:"seen"`   // when it last gave a sign of life
	Silent bool          `json:"silent"` // that was long ago: it may have been killed
	unseen time.Duration // since Seen
}

// activities are all that are under way, the newest first.
func (s *Server) activities() (all []Activity) {
	shot := s.index.now()
	for _, f := range append(shot.folders("activity"), shot.folders("campaign")...) {
		if a := s.activity(f.ID); a != nil {
			all = append(all, *a)
		}
	}
	return all
}

// activity reads what is under way in a folder, or returns nil.
func (s *Server) activity(id string) *Activity {
	fsys := s.fsys
	a := &Activity{ID: id}
	file := path.Join(id, batch.NotesFile)
	b, err := whole.Read(fsys, file, record.MostJSON)
	if err == nil {
		err = json.Unmarshal(b, &a.Noted)
	} else {
		file = path.Join(id, campaign.CampaignFile)
		var c *Campaign
		if c, err = s.campaign(id); err == nil && c.State != campaign.Running {
			return nil
		}
		if err == nil {
			a.Noted = batch.Noted{Kind: "campaign", Name: c.Name, Command: c.Command, Started: c.Started, Took: c.Took, Runs: c.Runs, Planned: c.Planned, Findings: len(c.Findings)}
			for _, p := range c.Coverage {
				a.Reached = append(a.Reached, batch.Reached{Runs: p.Runs, Keys: p.Keys})
			}
			a.Left = batch.Progress{Done: c.Runs, Planned: c.Planned, Passed: c.Took}.Estimate(0).Left
		}
	}
	info, gone := fs.Stat(fsys, file)
	if err != nil || gone != nil {
		return nil
	}
	a.Seen = info.ModTime()
	a.unseen = s.Now().Sub(a.Seen)
	a.Silent = a.unseen > quiet
	return a
}

// Path is the address of its page.
func (a *Activity) Path() string {
	if a.Kind == "campaign" {
		return campaignLink(a.ID)
	}
	return (&url.URL{Path: "/under-way/" + a.ID}).EscapedPath()
}

// Percent is how much of it is done; -1 if nobody knows.
func (a *Activity) Percent() int { return percent(a.Runs, a.Planned) }

func percent(runs, planned int) int {
	if planned <= 0 {
		return -1
	}
	return min(100*runs/planned, 100)
}

// Facts are how far it is, in a line.
func (a *Activity) Facts() string {
	words := []string{count.Of(a.Runs, "run")}
	if a.Planned > 0 {
		words[0] = fmt.Sprintf("%d of %d runs", a.Runs, a.Planned)
	}
	if a.Kind != "matrix" {
		words = append(words, count.Of(a.Findings, "finding"))
	}
	if n := len(a.Reached); n > 0 {
		words = append(words, fmt.Sprintf("coverage %d", a.Reached[n-1].Keys))
	}
	if a.Silent {
		words = append(words, "no sign of life for "+count.Time(a.unseen))
	} else if a.Left > 0 {
		words = append(words, a.Left.Round(time.Second).String()+" left")
	}
	return strings.Join(words, " · ")
}

// Curve is what runs have reached, over runs.
func (a *Activity) Curve() template.HTML {
	l := chartLine{Name: "reached"}
	for _, p := range a.Reached {
		l.Points = append(l.Points, chartPoint{X: float64(p.Runs), Y: float64(p.Keys), Words: fmt.Sprintf("after %d runs", p.Runs)})
	}
	c := chart{lines: []chartLine{l}}
	body, _ := c.draw()
	return body
}

// underWay is the page of a hunt or a matrix under way.
func (s *Server) underWay(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimSuffix(r.PathValue("path"), "/")
	for _, f := range s.index.now().other {
		if f.ID != id {
			continue
		}
		if a := s.activity(id); a != nil {
			s.show(w, r, "under-way", frame{Title: a.Name, Tab: "live", Scripts: []string{"again.js"}, Page: a})
			return
		}
		if f.Kind == "matrix" {
			http.Redirect(w, r, (&url.URL{Path: "/matrix/" + id}).EscapedPath(), http.StatusSeeOther)
			return
		}
	}
	s.fail(w, r, http.StatusNotFound, "Nothing is under way there any more. What a hunt has found is among the findings.")
}

// apiActivities is GET /api/v1/activities.
func (s *Server) apiActivities(w http.ResponseWriter, _ *http.Request) {
	all := s.activities()
	answer(w, map[string]any{"total": len(all), "activities": asList(all)})
}
