package serve

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"recount/checkers"
	"recount/harness/campaign"
	"recount/internal/count"
)

// Finding is one way in which one target, with the same options, broke one property, and the runs that show it.
type Finding struct {
	Signature string            `json:"signature"`
	Target    string            `json:"target"`
	Options   map[string]string `json:"options,omitempty"`
	Property  string            `json:"property"`
	Kind      Kind              `json:"kind"`
	// Gone says that of each scenario, or of the same faults, that had shown it, with those options, the newest run found the property to hold.
	Gone bool `json:"gone"`
	// Since is how many runs of these have found the property to hold since each had shown it last; 0 for what is not gone. Where seeds are
	// others, or time is real, it may be there and not have shown.
	Since   int       `json:"since,omitempty"`
	Why     string    `json:"why"`    // in the run that shows it best
	Faults  []string  `json:"faults"` // of that run's schedule
	Run     string    `json:"run"`    // that run: the one with the fewest faults, of those the newest
	Repeat  string    `json:"repeat"`
	Runs    int       `json:"runs"` // that show it
	Of      int       `json:"of"`   // that could have: runs of that target and those options that decided the property
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Version string    `json:"version"` // of the Recount that saw it last
	// Campaign is what the newest campaign that has found it says of it.
	Campaign *CampaignFinding `json:"campaign,omitempty"`

	best  *Run
	shows []*Run
}

// findings are what runs have found, with what campaigns say of it.
func (s *Server) findings(shot *snapshot) []*Finding {
	said := map[*Run]*CampaignFinding{}
	for _, c := range s.campaigns(shot) {
		for i := range c.Findings {
			f := &c.Findings[i]
			if run := shot.byID[path.Join(c.ID, f.Run)]; run != nil && said[run] == nil {
				said[run] = f
			}
		}
	}
	all := slices.Clone(shot.findings())
	for i, f := range all {
		for _, r := range f.shows {
			if c := said[r]; c != nil && c.Property == f.Property {
				with := *f
				with.Campaign = c
				all[i] = &with
				break
			}
		}
	}
	return all
}

// New reports whether a campaign has seen it for the first time.
func (f *Finding) New() bool { return f.Campaign != nil && f.Campaign.State == campaign.New }

// signature is the same for runs that show the same, whether or not they say an option that is the default.
func signature(r *Run, property string) string {
	words := []string{r.Target}
	for _, k := range slices.Sorted(maps.Keys(r.chosen)) {
		words = append(words, k+"="+r.chosen[k])
	}
	return strings.Join(append(words, property), " ")
}

// findings gathers what runs, the newest first, have found: promises broken first, then what was seen last.
func findings(runs []*Run) []*Finding {
	known, decided := map[string]*Finding{}, map[string]int{}
	held := map[string]int{} // runs of a recipe that held, since it showed the finding last
	recipes := map[string]map[string]bool{}
	for _, r := range runs {
		for _, v := range r.Verdicts {
			if v.Verdict == checkers.Unknown {
				continue
			}
			s := signature(r, v.Property)
			decided[s]++
			if v.Verdict == checkers.Valid && !recipes[s][r.recipe] {
				held[s+"\n"+r.recipe]++
			}
			if v.Kind == "" {
				continue
			}
			f := known[s]
			if f == nil {
				f = &Finding{Signature: s, Target: r.Target, Options: r.chosen, Property: v.Property, Last: r.Started, Version: r.Version}
				known[s], recipes[s] = f, map[string]bool{}
			}
			f.take(r, &v)
			recipes[s][r.recipe] = true
		}
	}
	all := slices.Collect(maps.Values(known))
	for _, f := range all {
		f.Of, f.Gone = decided[f.Signature], true
		for recipe := range recipes[f.Signature] {
			since := held[f.Signature+"\n"+recipe]
			f.Gone = f.Gone && since > 0
			f.Since += since
		}
		if !f.Gone {
			f.Since = 0
		}
	}
	slices.SortFunc(all, func(a, b *Finding) int {
		return cmp.Or(a.rank()-b.rank(), b.Last.Compare(a.Last), strings.Compare(a.Signature, b.Signature))
	})
	return all
}

// take adds a run that shows the finding; newer ones were taken before.
func (f *Finding) take(r *Run, v *Verdict) {
	f.Runs++
	f.shows = append(f.shows, r)
	f.First = r.Started
	better := f.best == nil || kindRank(v.Kind) < kindRank(f.Kind) ||
		v.Kind == f.Kind && len(r.schedule) < len(f.best.schedule)
	if !better {
		return
	}
	f.best, f.Kind, f.Why, f.Run, f.Repeat = r, v.Kind, v.Why, r.ID, r.Repeat
	f.Faults = []string{}
	for _, st := range r.schedule {
		f.Faults = append(f.Faults, strings.Join(append([]string{st.Fault}, st.Nodes...), " "))
	}
}

func kindRank(k Kind) int { return slices.Index(kinds, k) }

func (f *Finding) rank() int {
	if f.Gone {
		return len(kinds)
	}
	return kindRank(f.Kind)
}

// Tone is the style that goes with the finding: red is kept for broken promises.
func (f *Finding) Tone() string {
	switch {
	case f.Gone:
		return "open"
	case f.Kind == Promise:
		return "broken"
	}
	return "weak"
}

// Standing is what the finding is, in a few words.
func (f *Finding) Standing() string {
	if f.Gone {
		return fmt.Sprintf("not seen in %s since", count.Of(f.Since, "run"))
	}
	if f.Campaign != nil && f.Campaign.Known {
		return string(f.Kind) + ", known to its campaign"
	}
	return string(f.Kind)
}

// is reports whether the finding is in a state that somebody asks for.
func (f *Finding) is(state string) bool {
	switch state {
	case "new":
		return f.New()
	case notSeen:
		return f.Gone
	}
	return !f.Gone && string(f.Kind) == state
}

// Rate says in how many runs it was seen.
func (f *Finding) Rate() string {
	if f.Campaign != nil && f.Campaign.State != campaign.Gone && f.Campaign.Rate() != "" {
		return f.Campaign.Rate()
	}
	return fmt.Sprintf("%d of %d runs", f.Runs, f.Of)
}
