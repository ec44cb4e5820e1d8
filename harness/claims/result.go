package claims

import (
	"fmt"
	"slices"
)

// Report is what a plan came to.
type Report struct {
	Version     string   `json:"version"` // of Recount
	Command     string   `json:"command"` // that makes it again
	Seed        uint64   `json:"seed"`
	Effort      Effort   `json:"effort"`
	Interrupted bool     `json:"interrupted,omitempty"`
	Results     []Result `json:"results"`
}

// Result is what one experiment came to.
type Result struct {
	Name    string  `json:"name"`
	Title   string  `json:"title"`
	About   string  `json:"about"`
	Source  string  `json:"source"`
	Trials  int     `json:"trials"` // made
	Planned int     `json:"planned"`
	Claims  []Claim `json:"claims,omitempty"`
	Tables  []Table `json:"tables,omitempty"`
	Plots   []Plot  `json:"plots,omitempty"`

	quick bool // too few trials for a verdict
}

// Claim is what somebody says, and what was measured.
type Claim struct {
	Says     string    `json:"says"`
	Measured string    `json:"measured"`
	Verdict  Agreement `json:"verdict"`
	Why      string    `json:"why,omitempty"` // where they differ: how that comes
}

// Agreement is whether a claim and a measurement agree.
type Agreement string

// The agreements.
const (
	Agrees    Agreement = "agrees"
	Disagrees Agreement = "disagrees"
	Unknown   Agreement = "unknown" // too little was measured
)

// claim adds a claim. why tells how a disagreement comes; it is left out where there is none.
func (r *Result) claim(says string, agrees bool, why, measured string, args ...any) {
	c := Claim{Says: says, Measured: fmt.Sprintf(measured, args...), Verdict: Agrees}
	if !agrees {
		c.Verdict, c.Why = Disagrees, why
	}
	switch {
	case r.Trials < r.Planned:
		c.Verdict, c.Why = Unknown, fmt.Sprintf("Interrupted after %d of %d trials.", r.Trials, r.Planned)
	case r.quick:
		c.Verdict, c.Why = Unknown, "A quick look rests on too few trials."
	}
	r.Claims = append(r.Claims, c)
}

// Table is numbers in rows. The first column names what a row is about.
type Table struct {
	Title string     `json:"title,omitempty"`
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"`
}

func (t *Table) row(cells ...string) { t.Rows = append(t.Rows, cells) }

// Plot is a drawing, kept in a file of its own.
type Plot struct {
	Name  string `json:"name"` // of the file, without its ending
	Title string `json:"title"`
	svg   []byte
}

// Disagreements counts the claims that the measurements contradict.
func (r *Report) Disagreements() (n int) {
	for i := range r.Results {
		for _, c := range r.Results[i].Claims {
			if c.Verdict == Disagrees {
				n++
			}
		}
	}
	return n
}

// by returns the series of a name; an empty one if there is none.
func by(all []*found, name string) *found {
	i := slices.IndexFunc(all, func(f *found) bool { return f.name == name })
	if i < 0 {
		return &found{}
	}
	return all[i]
}
