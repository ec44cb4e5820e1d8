package campaign

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"recount/harness"
	"recount/harness/estimate"
	"recount/harness/looked"
	"recount/harness/record"
)

// Summary is what a campaign has come to.
type Summary struct {
	Head
	Edition  string    `json:"edition"` // a hash of the file and of the program: what makes it a campaign of its own
	Status   int       `json:"status"`
	Spent    bool      `json:"spent,omitempty"` // the budget was, before all was done
	Targets  []Looked  `json:"targets"`
	Findings []Finding `json:"findings"`
	Failed   string    `json:"failed,omitempty"` // what ended it

	folder string
}

// Head is a campaign at a glance.
type Head struct {
	Name    string        `json:"name"`
	Command string        `json:"command"`
	Started time.Time     `json:"started"` // the last time
	Took    time.Duration `json:"took"`    // in all, however often it was stopped
	Runs    int           `json:"runs"`    // those that did not start, or were left out, among them
	Planned int           `json:"planned"` // 0 if a budget decides
	Version string        `json:"version"` // of Recount
	State   State         `json:"state"`
}

// State says whether a campaign is under way.
type State string

// The states of a campaign.
const (
	Running State = "running"
	Done    State = "done"
	Stopped State = "stopped"
)

// Standing says how a finding stands beside what was found before.
type Standing string

// How findings stand.
const (
	New  Standing = "new"   // not found before, or gone the last time
	Seen Standing = "known" // found before, or named in the file as known
	Gone Standing = "gone"  // found before, and not this time, however few the runs were
)

// Finding is what kinds of findings with one signature have in common.
type Finding struct {
	Signature string            `json:"signature"`
	Sentence  string            `json:"sentence"`
	Target    string            `json:"target"`
	Version   string            `json:"version"`
	Options   map[string]string `json:"options"`
	Property  string            `json:"property"`
	State     Standing          `json:"state"`
	Known     bool              `json:"known,omitempty"`  // the file names it
	Runs      int               `json:"runs"`             // that showed it, …
	Of        int               `json:"of"`               // … of those of its target
	Unseen    int               `json:"unseen,omitempty"` // runs of its target that did not show it, where it is gone
	Low       float64           `json:"low"`              // the bounds of the rate, with 95 % confidence
	High      float64           `json:"high"`
	First     time.Time         `json:"first"`
	Last      time.Time         `json:"last"`
	Repeat    string            `json:"repeat"`
	Run       string            `json:"run"` // the kept run, below the campaign's folder
	Faults    []string          `json:"faults"`
}

// Looked is how much of a target was tested.
type Looked struct {
	Target   string         `json:"target"`
	Version  string         `json:"version"`
	Runs     int            `json:"runs"` // that started
	Planned  int            `json:"planned"`
	Broken   map[string]int `json:"broken"` // runs by the property that they broke, promised or not
	Keys     int            `json:"keys"`
	Chance   estimate.Rate  `json:"chance"`    // that one more run reaches something new
	Unshrunk int            `json:"unshrunk"`  // runs that broke what is looked for in circumstances that were not shrunk,
	Unknown  int            `json:"unknown"`   // and of those, runs of what the file does not name as known
	NoEffect []string       `json:"no_effect"` // faults that were never seen to take effect
	// Vain tells of each fault of NoEffect how often it was tried, and why it did not take effect one of these times.
	Vain     map[string]looked.Vain `json:"vain"`
	NotDrawn []string               `json:"not_drawn"` // faults that were never drawn
	NotAimed []string               `json:"not_aimed"` // roles that a fault was never aimed at
	Aims     []Aim                  `json:"aims"`
	// Sometimes are the lines that are to come sometimes in logs of nodes; nil where there are none.
	Sometimes *looked.Sometimes `json:"sometimes,omitempty"`
	// Unstarted tells of runs whose nodes did not come up, and GivenUp of sizes of clusters of which none did.
	Unstarted *Unstarted `json:"unstarted,omitempty"`
	GivenUp   []GivenUp  `json:"given_up,omitempty"`
}

// summary tells what there is.
func (w *runner) summary(state State, now time.Time) *Summary {
	c := w.campaign
	s := &Summary{
		Head:    Head{Name: c.Name, Command: w.Command, Started: w.begun, Took: w.before + now.Sub(w.begun), Version: harness.Version, State: state},
		Edition: w.edition(), Spent: w.budgeted, folder: w.Folder, Findings: []Finding{},
	}
	for _, sub := range w.subjects {
		s.Runs += sub.sum.Runs
		s.Planned += sub.target.Runs
		l := sub.looked(c)
		l.Unstarted, l.GivenUp = sub.didNotStart(w.Folder, w.failed != nil)
		s.Targets = append(s.Targets, l)
		s.Findings = append(s.Findings, sub.findings(w.Folder)...)
	}
	if w.failed != nil {
		s.Failed = w.failed.Error()
	}
	w.view.ledger.stand(s, c, now)
	s.Status = s.status()
	return s
}

// edition tells a campaign from others of the same name.
func (w *runner) edition() string {
	var all []string
	for _, s := range w.subjects {
		all = append(all, s.id, strconv.Itoa(s.target.Runs))
	}
	return hash(all)
}

// status is what the command exits with: a new broken promise fails it.
func (s *Summary) status() int {
	if s.Failed != "" {
		return record.StatusFailed
	}
	for _, f := range s.Findings {
		if f.State == New {
			return record.StatusBroken
		}
	}
	if s.State == Done && s.Runs > 0 {
		for _, t := range s.Targets {
			if t.Runs == 0 || t.Unknown > 0 || t.Unstarted != nil {
				return record.StatusUnknown
			}
		}
		return record.StatusHeld
	}
	return record.StatusUnknown
}

// findings are what kinds were shrunk to, one for each signature.
func (s *subject) findings(folder string) (all []Finding) {
	kinds := s.sum.kinds(len(s.sum.Waves))
	by := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(s.shrunk)) {
		f, k := s.shrunk[name], kinds[name]
		if f.Signature == "" || k == nil {
			continue
		}
		if i, known := by[f.Signature]; known {
			all[i].Runs += k.Runs
			continue
		}
		by[f.Signature] = len(all)
		all = append(all, Finding{
			Signature: f.Signature, Sentence: f.Why, Target: s.target.Name, Version: s.target.Version, Options: f.Options,
			Property: f.Property, Runs: k.Runs, Run: "runs/" + f.Run(s.id), Faults: []string{},
			Repeat: "recount run " + record.Quote(strings.Join([]string{folder, "runs", f.Run(s.id), f.Property + ".yaml"}, "/")),
		})
		last := &all[len(all)-1]
		if last.Options == nil {
			last.Options = map[string]string{}
		}
		if s.On != record.OnSim {
			last.Repeat += " --on " + s.On
		}
		for _, st := range f.Plan.Schedule {
			last.Faults = append(last.Faults, st.Fault)
		}
	}
	for i := range all {
		r := estimate.Of(all[i].Runs, s.sum.started())
		all[i].Of, all[i].Low, all[i].High = r.Trials, r.Low, r.High
	}
	slices.SortFunc(all, func(a, b Finding) int { return cmp.Or(b.Runs-a.Runs, cmp.Compare(a.Signature, b.Signature)) })
	return all
}

// looked tells how much of a target was tested.
func (s *subject) looked(c *Campaign) Looked {
	started := s.sum.started()
	l := Looked{
		Target: s.target.Name, Version: s.target.Version, Runs: started, Planned: s.target.Runs, Broken: s.sum.Broken,
		Keys: s.sum.Reach.Keys(), Chance: s.sum.Reach.Chance(started), NoEffect: []string{}, Vain: map[string]looked.Vain{}, NotDrawn: []string{}, NotAimed: []string{}, Aims: []Aim{},
	}
	if len(s.sum.Came) > 0 {
		l.Sometimes = looked.Hoped(s.sum.Came)
	}
	unshrunk := maps.Clone(s.sum.Cut)
	for name, k := range s.sum.kinds(len(s.sum.Waves)) {
		if f := s.shrunk[name]; f == nil || f.Signature == "" {
			unshrunk[k.Property] += k.Runs
		}
	}
	for property, runs := range unshrunk {
		if l.Unshrunk += runs; !c.knows(s.target.Name, property) {
			l.Unknown += runs
		}
	}
	of, roles := map[string]Aim{}, map[string]map[string]bool{}
	for _, a := range s.sum.Aims {
		l.Aims = append(l.Aims, a)
		of[a.Fault] = of[a.Fault].join(a)
		for _, role := range strings.Split(a.At, ", ") {
			if roles[a.Fault] == nil {
				roles[a.Fault] = map[string]bool{}
			}
			roles[a.Fault][role] = true
		}
	}
	slices.SortFunc(l.Aims, func(a, b Aim) int { return cmp.Or(cmp.Compare(a.Fault, b.Fault), cmp.Compare(a.At, b.At)) })
	for _, name := range s.Faults {
		switch a := of[name]; {
		case a.Times == 0:
			l.NotDrawn = append(l.NotDrawn, name)
		case a.Took == 0:
			l.NoEffect = append(l.NoEffect, name)
			l.Vain[name] = looked.Vain{Times: a.Times, Why: a.Why}
		case roles[name]["leader"] != roles[name]["follower"]:
			missed := "leader"
			if roles[name]["leader"] {
				missed = "follower"
			}
			l.NotAimed = append(l.NotAimed, name+" "+missed)
		}
	}
	return l
}
