package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"recount/harness/hunt"
	"recount/harness/record"
	"recount/harness/shrink"
	"recount/internal/count"
	"recount/internal/term"
	"recount/report"
)

// huntReport is what a hunt has come to, to be printed.
type huntReport struct {
	*huntFlags
	result *hunt.Result
	kept   []*hunt.Kept
	// unstarted is the folder of the first run that did not start; "" if there is none.
	unstarted string
	// stuck is the folder of the first run that a server brought to a standstill; "" if there is none.
	stuck string
	// coverage is the file that has which statements ran; "" if there is none.
	coverage string
	status   int
}

func (r huntReport) print(w io.Writer) error {
	if r.asJSON {
		return r.json(w)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s in %v, %s; coverage %d\n", r.Target, count.Of(r.result.Runs, "run"),
		r.result.Took.Round(100*time.Millisecond), pace(r.result.Progress), r.result.Coverage)
	for _, k := range r.kept {
		fmt.Fprintf(&b, "\n%s broke in run %d, with %d nodes and %s\n", k.Property, k.Run, k.Plan.Nodes, shrink.Faults(k.Plan))
		if k.Alike > 0 {
			fmt.Fprintf(&b, "  and in %s, under the same faults or what these were shrunk to\n", count.Of(k.Alike, "further run"))
		}
		if k.Others > 0 {
			fmt.Fprintf(&b, "  and in %s under other faults, which were not shrunk: %s\n", count.Of(k.Others, "run"), k.Limit)
		}
		if k.Shrunk != nil {
			row(&b, "signature", k.Shrunk.Signature())
		}
		row(&b, "run", cmp.Or(k.Found.Dir, fmt.Sprintf("not kept; its seed is %d", k.Plan.Seed)))
		if k.Shrunk != nil {
			writeShrunk(&b, k.Shrunk, k.File, "--shrink-budget")
		} else {
			why(&b, k.Why, k.Found)
		}
	}
	r.didNotStart(&b)
	r.looked(&b)
	fmt.Fprintf(&b, "\nstatus: %d  %s\n", r.status, r.summary())
	_, err := io.WriteString(w, b.String())
	return err
}

// didNotStart tells of the runs whose nodes did not come up, or that a server brought to a standstill.
func (r huntReport) didNotStart(b *strings.Builder) {
	r.notStarted().tell(b, "did not start")
	r.stoodStill().tell(b, "came to a standstill")
	if len(r.result.GivenUp) > 0 {
		fmt.Fprintf(b, "\nleft out, since no cluster of that size started:\n")
		for _, g := range r.result.GivenUp {
			row(b, count.Of(g.Nodes, "node"), g.Err.Error())
		}
	}
}

// looked tells how much was looked at.
func (r huntReport) looked(b *strings.Builder) {
	l := r.result.Looked
	rows := l.Rows()
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\nlooked at:\n")
	for _, line := range rows {
		row(b, line.Name, line.Words)
	}
	if r.coverage != "" {
		row(b, "", fmt.Sprintf("go tool cover -html=%s shows which", r.coverage))
	}
	if p := l.Planted; p.Bugs > 0 && r.On == record.OnSim {
		row(b, "planted", fmt.Sprintf("as many runs find %d of %d bugs planted in elections on purpose (measured %s)", p.Found, p.Bugs, p.Date))
	}
}

// writeShrunk tells what a finding was shrunk to within a budget that a flag gives.
func writeShrunk(b *strings.Builder, s *shrink.Result, file, flag string) {
	small := fmt.Sprintf("%s, %s, %v", count.Of(s.Plan.Nodes, "node"), shrink.Faults(s.Plan), s.Plan.Time)
	if s.Interrupted {
		small += "; cut short, so perhaps not the least"
	}
	if s.Spent {
		small += fmt.Sprintf(": a longer %s gets further", flag)
	}
	if s.Failed {
		small += "; perhaps not the least: a run could not be made"
	}
	row(b, "shrunk to", small)
	why(b, s.Verdict.Why, s.Run)
	row(b, "rate", s.Rate())
	if s.Decision != nil {
		row(b, "message", s.Decision.String())
	}
	row(b, "scenario", file)
	row(b, "report", report.Page(s.Run))
}

// why says what happened in a run, and what nodes wrote that ended by themselves in it.
func why(b *strings.Builder, what string, r *record.Run) {
	row(b, "why", what)
	for _, words := range r.LastWords {
		row(b, "", words)
	}
}

func row(b *strings.Builder, name, value string) {
	fmt.Fprintf(b, "  %-10s %s\n", name, term.Printable(value))
}

func (r huntReport) summary() string {
	looked := "no promised property broke"
	if r.Property != "" {
		looked = fmt.Sprintf("%s did not break in the %s that it was judged in", r.Property, count.Of(r.result.Judged, "run"))
	}
	switch {
	case len(r.kept) > 0:
		var names []string
		for _, k := range r.kept {
			names = append(names, k.Property)
		}
		slices.Sort(names)
		return "Broken: " + strings.Join(slices.Compact(names), ", ") + "."
	case r.result.Interrupted && r.result.Runs == 0:
		return "Interrupted before a run was made."
	case r.result.Interrupted:
		return "Interrupted; until then " + looked + "."
	case r.result.Runs == 0 && r.result.NotStarted > 0:
		return "No run started."
	case r.result.Runs == 0:
		return "No run was made: there was no time for one. A longer --budget has it."
	case r.result.Judged == 0:
		return r.unjudged()
	}
	text := strings.ToUpper(looked[:1]) + looked[1:] + "."
	if r.result.Unstarted != nil {
		text += " Not every run started."
	}
	if r.result.Stuck != nil {
		text += " Not every run came to its end."
	}
	if r.Property == "" {
		var excused, never []string
		for _, name := range slices.Sorted(maps.Keys(r.result.Broken)) {
			n := r.result.Excused[name]
			if n > 0 {
				excused = append(excused, name+" in "+count.Of(n, "run"))
			}
			if n = r.result.Broken[name] - n; n > 0 {
				never = append(never, name+" in "+count.Of(n, "run"))
			}
		}
		if len(excused) > 0 {
			text += " Broken where faults had taken away what the promise rests on: " + strings.Join(excused, ", ") + "."
		}
		if len(never) > 0 {
			text += " Not promised and broken: " + strings.Join(never, ", ") + "; --property hunts one of them."
		}
	}
	return text
}

// unjudged says that no run decided what was looked for, and why one of them did not.
func (r huntReport) unjudged() string {
	text := fmt.Sprintf("%s was judged in 0 of %d runs", cmp.Or(r.Property, "What is promised"), r.result.Runs)
	if why := r.result.Undecided; why != "" {
		text += "; " + why
	}
	return text + "."
}

// found is a finding in JSON.
type found struct {
	Property string  `json:"property"`
	Number   int     `json:"number"`        // of the run that found it
	Run      string  `json:"run,omitempty"` // left out where it could not be kept
	Alike    int     `json:"alike,omitempty"`
	Others   int     `json:"others,omitempty"`
	Shrunk   *shrunk `json:"shrunk,omitempty"`
}

// undone are runs that did not start, or came to a standstill, and the first of them, in JSON.
type undone struct {
	Runs   int    `json:"runs"`
	Number int    `json:"number"`
	Nodes  int    `json:"nodes"`
	Seed   uint64 `json:"seed"`
	Why    string `json:"why"`
	Run    string `json:"run,omitempty"`
}

// notStarted are the runs whose nodes did not come up; nil for none.
func (r huntReport) notStarted() *undone {
	u := r.result.Unstarted
	if u == nil {
		return nil
	}
	return &undone{r.result.NotStarted, u.Run, u.Plan.Nodes, u.Plan.Seed, u.Err.Error(), r.unstarted}
}

// stoodStill are the runs that a server brought to a standstill; nil for none.
func (r huntReport) stoodStill() *undone {
	s := r.result.Stuck
	if s == nil {
		return nil
	}
	return &undone{r.result.StoodStill, s.Run, s.Plan.Nodes, s.Plan.Seed, s.Err.Error(), r.stuck}
}

// tell says of runs, if there are any, what became of them.
func (u *undone) tell(b *strings.Builder, became string) {
	if u == nil {
		return
	}
	fmt.Fprintf(b, "\n%s %s; the first is run %d, with %d nodes, seed %d\n", count.Of(u.Runs, "run"), became, u.Number, u.Nodes, u.Seed)
	row(b, "why", u.Why)
	if u.Run != "" {
		row(b, "run", u.Run)
		row(b, "repeat", hunt.Repeat(u.Run, u.Seed))
	}
}

// givenUp is a size of which no cluster started, in JSON.
type givenUp struct {
	Nodes int    `json:"nodes"`
	Why   string `json:"why"`
}

// shrunk is what a run was shrunk to, in JSON.
type shrunk struct {
	Property    string   `json:"property"`
	Signature   string   `json:"signature"`
	Run         string   `json:"run"`
	Scenario    string   `json:"scenario"`
	Nodes       int      `json:"nodes"`
	Faults      []string `json:"faults"`
	Seed        uint64   `json:"seed"`
	Why         string   `json:"why"`
	Hits        int      `json:"hits"`
	Measured    int      `json:"measured"`
	Runs        int      `json:"runs"` // that it took
	Interrupted bool     `json:"interrupted,omitempty"`
}

func asShrunk(s *shrink.Result, file string) *shrunk {
	small := &shrunk{
		Property: s.Property, Signature: s.Signature(), Run: s.Run.Dir, Scenario: file, Nodes: s.Plan.Nodes, Faults: []string{}, Seed: s.Plan.Seed,
		Why: s.Verdict.Why, Hits: s.Hits, Measured: s.Measured, Runs: s.Runs, Interrupted: s.Interrupted || s.Failed,
	}
	for _, st := range s.Plan.Schedule {
		small.Faults = append(small.Faults, st.Fault)
	}
	return small
}

func (r huntReport) json(w io.Writer) error {
	all := struct {
		Target   string      `json:"target"`
		Seed     uint64      `json:"seed"`
		Runs     int         `json:"runs"`
		Judged   int         `json:"judged"` // runs that decided what is looked for
		Coverage int         `json:"coverage"`
		Status   int         `json:"status"`
		Looked   hunt.Looked `json:"looked"`
		Findings []found     `json:"findings"`
		// Unstarted tells of runs whose nodes did not come up, and GivenUp of sizes of clusters of which none did.
		Unstarted *undone   `json:"unstarted,omitempty"`
		GivenUp   []givenUp `json:"given_up,omitempty"`
		// Stuck tells of runs that a server brought to a standstill.
		Stuck *undone `json:"stuck,omitempty"`
	}{Target: r.Target, Seed: r.Seed, Runs: r.result.Runs, Judged: r.result.Judged, Coverage: r.result.Coverage, Status: r.status,
		Looked: r.result.Looked, Findings: []found{}, Unstarted: r.notStarted(), Stuck: r.stoodStill()}
	for _, g := range r.result.GivenUp {
		all.GivenUp = append(all.GivenUp, givenUp{g.Nodes, g.Err.Error()})
	}
	for _, k := range r.kept {
		f := found{Property: k.Property, Number: k.Run, Run: k.Found.Dir, Alike: k.Alike, Others: k.Others}
		if k.Shrunk != nil {
			f.Shrunk = asShrunk(k.Shrunk, k.File)
		}
		all.Findings = append(all.Findings, f)
	}
	return json.NewEncoder(w).Encode(all)
}
