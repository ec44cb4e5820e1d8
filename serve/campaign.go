package serve

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"slices"
	"strings"

	"recount/harness/campaign"
	"recount/harness/record"
	"recount/internal/whole"
)

// Campaign is a campaign as its folder tells of it.
type Campaign struct {
	campaign.Head
	ID       string             `json:"id"`
	Targets  []campaign.Looked  `json:"targets"`
	Findings []CampaignFinding  `json:"findings"`
	Coverage []campaign.Covered `json:"coverage"`
	Trends   []campaign.Trend   `json:"trends"`
}

// CampaignFinding is one way in which a campaign saw a property break.
type CampaignFinding struct{ campaign.Finding }

// campaign reads the campaign of a folder, which is in the index.
func (s *Server) campaign(id string) (*Campaign, error) {
	fsys := s.fsys
	c := &Campaign{ID: id}
	b, err := whole.Read(fsys, path.Join(id, campaign.CampaignFile), record.MostJSON)
	if err == nil {
		err = json.Unmarshal(b, c)
	}
	if err != nil {
		return nil, err
	}
	c.ID, c.Findings = id, []CampaignFinding{}
	if b, err = whole.Read(fsys, path.Join(id, campaign.FindingsFile), record.MostJSON); err == nil {
		if err := json.Unmarshal(b, c); err != nil {
			return nil, err
		}
	}
	c.Coverage = readLines[campaign.Covered](fsys, path.Join(id, campaign.CoverageFile))
	c.Trends = readLines[campaign.Trend](fsys, path.Join(id, campaign.TrendsFile))
	c.ID = id // whatever the files say
	return c, nil
}

// campaigns are all that can be read, the newest first.
func (s *Server) campaigns(shot *snapshot) (all []*Campaign) {
	for _, f := range shot.folders("campaign") {
		if c, err := s.campaign(f.ID); err == nil {
			all = append(all, c)
		}
	}
	return all
}

// Count is how many findings are in a state.
func (c *Campaign) Count(state campaign.Standing) (n int) {
	for i := range c.Findings {
		if c.Findings[i].State == state {
			n++
		}
	}
	return n
}

// Unstarted are how many runs did not start, of sizes of clusters that do.
func (c *Campaign) Unstarted() (n int) {
	for i := range c.Targets {
		if u := c.Targets[i].Unstarted; u != nil {
			n += u.Runs
		}
	}
	return n
}

// Tone is the style of a campaign.
func (c *Campaign) Tone() string {
	switch {
	case c.State == campaign.Running:
		return "live"
	case c.Count(campaign.New) > 0:
		return "broken"
	case c.State == campaign.Done && c.Unstarted() == 0:
		return "held"
	}
	return "open"
}

// Percent is how much of it is done; -1 if nobody knows.
func (c *Campaign) Percent() int { return percent(c.Runs, c.Planned) }

// Tone is the style of a finding.
func (f *CampaignFinding) Tone() string {
	switch f.State {
	case campaign.New:
		return "broken"
	case campaign.Seen:
		return "weak"
	}
	return "open"
}

// campaignPage is a campaign with links to the runs that it kept.
type campaignPage struct {
	*Campaign
	Kept   map[string]*Run // of findings, by what the campaign calls them
	Curve  template.HTML
	Chance template.HTML
	Last   *campaign.Covered
	Silent bool
	Shown  []CampaignFinding
	Filter filter
	Choice choices
}

func (s *Server) campaignsPage(w http.ResponseWriter, r *http.Request) {
	all := s.campaigns(s.index.now())
	f := frame{Title: "Campaigns", Tab: "campaigns", Page: all}
	if slices.ContainsFunc(all, func(c *Campaign) bool { return c.State == campaign.Running }) {
		f.Scripts = []string{"again.js"}
	}
	s.show(w, r, "campaigns", f)
}

// campaignOf looks up the campaign that a path names, or one in the usual place. Otherwise it has answered.
func (s *Server) campaignOf(w http.ResponseWriter, r *http.Request) *Campaign {
	id := strings.TrimSuffix(r.PathValue("path"), "/")
	for _, f := range s.index.now().folders("campaign") {
		if f.ID == id || f.ID == "campaigns/"+id {
			c, err := s.campaign(f.ID)
			if err != nil {
				s.fail(w, r, http.StatusUnprocessableEntity, problem(err))
			}
			return c
		}
	}
	s.fail(w, r, http.StatusNotFound, "There is no such campaign among the results.")
	return nil
}

func (s *Server) campaignPage(w http.ResponseWriter, r *http.Request) {
	c := s.campaignOf(w, r)
	if c == nil {
		return
	}
	shot, q := s.index.now(), queryOf(r)
	states := []string{string(campaign.New), string(campaign.Seen), string(campaign.Gone)}
	p := campaignPage{Campaign: c, Kept: map[string]*Run{}, Filter: filterOf(q, states)}
	if s.refuses(w, r, q) {
		return
	}
	targets, properties := map[string]bool{}, map[string]bool{}
	for _, f := range c.Findings {
		targets[f.Target], properties[f.Property] = true, true
		if run := shot.byID[path.Join(c.ID, f.Run)]; run != nil && f.Run != "" {
			p.Kept[f.Run] = run
		}
		if p.Filter.campaign(&f) {
			p.Shown = append(p.Shown, f)
		}
	}
	p.Choice = choices{sorted(targets), sorted(properties), states}
	p.Curve, p.Chance = curves(c.Coverage)
	if n := len(c.Coverage); n > 0 {
		p.Last = &c.Coverage[n-1]
	}
	f := frame{Title: c.Name, Tab: "campaigns", Page: &p}
	if c.State == campaign.Running {
		f.Scripts = append(f.Scripts, "again.js")
		a := s.activity(c.ID)
		p.Silent = a != nil && a.Silent
	}
	s.show(w, r, "campaign", f)
}

// campaign reports whether a finding of a campaign passes.
func (f filter) campaign(d *CampaignFinding) bool {
	return (f.Target == "" || d.Target == f.Target) && (f.Property == "" || d.Property == f.Property) && (f.State == "" || string(d.State) == f.State) &&
		(f.Text == "" || strings.Contains(strings.ToLower(d.Signature+" "+d.Sentence), f.Text))
}

// curves are what was reached over runs, and the chance of something new, with its bounds.
func curves(points []campaign.Covered) (reached, chance template.HTML) {
	a, b := chartLine{Name: "reached"}, chartLine{Name: "chance"}
	for _, p := range points {
		words := fmt.Sprintf("after %d runs", p.Runs)
		a.Points = append(a.Points, chartPoint{X: float64(p.Runs), Y: float64(p.Keys), Words: words})
		b.Points = append(b.Points, chartPoint{float64(p.Runs), 100 * p.Chance, 100 * p.Low, 100 * p.High, words})
	}
	one, two := chart{lines: []chartLine{a}}, chart{lines: []chartLine{b}, unit: "%"}
	reached, _ = one.draw()
	chance, _ = two.draw()
	return reached, chance
}

// apiCampaigns is GET /api/v1/campaigns.
func (s *Server) apiCampaigns(w http.ResponseWriter, _ *http.Request) {
	all := s.campaigns(s.index.now())
	answer(w, map[string]any{"total": len(all), "campaigns": asList(all)})
}

// apiCampaign is GET /api/v1/campaigns/{id}.
func (s *Server) apiCampaign(w http.ResponseWriter, r *http.Request) {
	if c := s.campaignOf(w, r); c != nil {
		answer(w, c)
	}
}
