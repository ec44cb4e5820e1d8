package serve

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"recount/harness/record"
	"recount/internal/count"
	"recount/nemesis"
)

// Coverage is what runs have put to the test: each fault, on a node of each role, in each phase of an election.
type Coverage struct {
	Target string         `json:"target,omitempty"` // of that target's runs only
	Runs   int            `json:"runs"`             // that were read
	Left   int            `json:"left"`             // that are still to be read
	Faults []string       `json:"faults"`
	Roles  []string       `json:"roles"`
	Phases []string       `json:"phases"`
	Cells  []CoverageCell `json:"cells"` // those that are not empty
}

// CoverageCell is one fault on one role in one phase.
type CoverageCell struct {
	Fault string        `json:"fault"`
	Role  string        `json:"role"`
	Phase string        `json:"phase"`
	Times int           `json:"times"` // faults
	Run   string        `json:"run"`   // the newest that has it
	At    time.Duration `json:"at"`    // when, in that run
}

// covered counts what the runs of a target, or of all, have put to the test.
func (s *Server) covered(ctx context.Context, target string) Coverage {
	var some []*Run
	for _, r := range s.index.now().runs {
		if target == "" || r.Target == target {
			some = append(some, r)
		}
	}
	have, left := s.digests.of(ctx, some)
	c := Coverage{Target: target, Runs: len(have), Left: left, Roles: roles, Phases: phases, Cells: []CoverageCell{}}
	at, seen := map[[3]string]int{}, map[string]bool{}
	for _, f := range nemesis.All() {
		seen[f.Name] = true
	}
	for _, r := range some { // the newest first
		d := have[r]
		if d == nil {
			continue
		}
		for i := range d.faults {
			f := &d.faults[i]
			seen[f.name] = true
			for k := range f.nodes {
				key := [3]string{f.name, f.roles[k], f.phase}
				if slices.Contains(f.roles[:k], f.roles[k]) || !slices.Contains(roles, f.roles[k]) {
					continue
				}
				n, known := at[key]
				if !known {
					n = len(c.Cells)
					at[key] = n
					c.Cells = append(c.Cells, CoverageCell{Fault: key[0], Role: key[1], Phase: key[2], Run: r.ID, At: f.From})
				}
				c.Cells[n].Times++
			}
		}
	}
	c.Faults = sorted(seen)
	slices.SortFunc(c.Cells, func(a, b CoverageCell) int {
		return cmp.Or(strings.Compare(a.Fault, b.Fault), slices.Index(roles, a.Role)-slices.Index(roles, b.Role), slices.Index(phases, a.Phase)-slices.Index(phases, b.Phase))
	})
	return c
}

// coveragePage is the coverage as a map.
type coveragePage struct {
	Coverage
	Targets []string
	Rows    []coverageRow
	Empty   int
	Fill    *fill // the empty cell that somebody has chosen
}

type coverageRow struct {
	Fault, About string
	Cells        []coverageSquare
}

type coverageSquare struct {
	Times              int
	Href, Title, Class string
	Cut                bool
}

// fill is how to fill an empty cell.
type fill struct {
	Fault, Role, Phase string
	Hunt, Run          string // commands
}

func (s *Server) coverage(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	p := coveragePage{Coverage: s.covered(r.Context(), q.Get("target"))}
	all := s.index.now().runs
	p.Targets = choicesOf(all).Targets
	cells := map[[3]string]*CoverageCell{}
	most := 1
	for i := range p.Cells {
		c := &p.Cells[i]
		cells[[3]string{c.Fault, c.Role, c.Phase}] = c
		most = max(most, c.Times)
	}
	for _, name := range p.Faults {
		row := coverageRow{Fault: name}
		known, err := nemesis.Find(name)
		if err == nil {
			row.About = known.About
		}
		for _, role := range roles {
			for k, phase := range phases {
				sq := coverageSquare{Cut: k == 0, Class: "c0", Title: fmt.Sprintf("%s on a %s, %s: ", name, role, phase)}
				if c := cells[[3]string{name, role, phase}]; c != nil {
					sq.Times, sq.Href, sq.Class = c.Times, instant(c.Run, c.At), shade(c.Times, most)
					sq.Title += count.Of(c.Times, "time")
				} else if role == "leader" && phase == "electing" {
					sq.Title += "cannot be"
				} else {
					p.Empty++
					sq.Title += "never"
					if err == nil { // a history may name faults that no command brings about
						sq.Href = "?" + url.Values{"target": {p.Target}, "fault": {name}, "role": {role}, "phase": {phase}}.Encode() + "#fill"
					}
				}
				row.Cells = append(row.Cells, sq)
			}
		}
		p.Rows = append(p.Rows, row)
	}
	fault, role, phase := q.Get("fault"), q.Get("role"), q.Get("phase")
	target := cmp.Or(p.Target, busiest(all))
	if _, err := nemesis.Find(fault); err == nil && slices.Contains(p.Targets, target) && slices.Contains(roles, role) && slices.Contains(phases, phase) {
		p.Fill = filling(target, clusterOf(all, target), fault, role, phase)
	}
	f := frame{Title: "Coverage", Tab: "coverage", Scripts: []string{"grid.js"}, Page: p}
	if p.Left > 0 {
		f.Scripts = append(f.Scripts, "again.js")
	}
	s.show(w, r, "coverage", f)
}

// shade is the style of a cell: the more often, the stronger.
func shade(n, most int) string {
	switch {
	case n*3 > most:
		return "c3"
	case n*20 > most:
		return "c2"
	}
	return "c1"
}

// clusterOf is where the newest of a target's runs took place.
func clusterOf(newestFirst []*Run, target string) string {
	for _, r := range newestFirst {
		if r.Target == target {
			return r.Cluster
		}
	}
	return record.OnSim
}

// filling says how to fill a cell: with a hunt, which keeps only what it finds, and with one run, which is kept. People paste
// it into a shell, and a target is called what its runs say; so is where they took place, if that is a place.
func filling(target, on, fault, role, phase string) *fill {
	f := &fill{Fault: fault, Role: role, Phase: phase}
	faults := fault
	if phase == "under another fault" || phase == "just healed" {
		if other := "cut-link"; fault != other {
			faults += "," + other
		} else {
			faults += ",isolate"
		}
	}
	what := fmt.Sprintf("--target %s --nemesis %s", record.Quote(target), record.Quote(faults))
	runs := 200
	switch on {
	case record.OnDocker: // in real time, one after the other
		what, runs = what+" --on docker", 20
	case record.OnVirtual:
		what += " --on virtual"
	}
	f.Hunt = fmt.Sprintf("recount hunt %s --runs %d --keep-going", what, runs)
	f.Run = fmt.Sprintf("recount run %s --time 2m", what)
	return f
}

// instant is the address of one instant of a run.
func instant(id string, at time.Duration) string {
	return link(id) + "?" + url.Values{"at": {at.String()}}.Encode() + "#timeline"
}

// apiCoverage is GET /api/v1/coverage?target=.
func (s *Server) apiCoverage(w http.ResponseWriter, r *http.Request) {
	answer(w, s.covered(r.Context(), r.URL.Query().Get("target")))
}
