package serve

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/report"
)

// How two runs are compared: node by node and fault by fault, and where they part for the first time.
//
// Runs of one target in virtual time with one seed do the same at the same instants until something differs, so any difference counts,
// by name and from their beginning on. Other runs elect whom they like, when they like: there the leader stands for the leader, and whom the faults
// hit for whom they hit, from when the clusters had settled. Terms are counted from there, who does not lead is what it is, and
// only what comes more than a silence apart differs.

// Comparison is what two runs come to, side by side.
type Comparison struct {
	By     string           `json:"by"`     // "name" or "role": how nodes were paired
	Zero   [2]time.Duration `json:"zero"`   // the instants of the two that lie above one another
	Within time.Duration    `json:"within"` // what comes that much later in one of them is the same
	Pairs  [][2]string      `json:"pairs"`  // nodes
	// The first difference of each node in each respect, and that of the faults, in order of time.
	Differences []Difference `json:"differences"`

	lines [2]*report.Timeline
	order [2][]int // of the nodes, by their places in pairs
	end   time.Duration
}

// Difference is where two runs part in one respect.
type Difference struct {
	What string        `json:"what"` // role, term, leader or fault
	Who  [2]string     `json:"who"`  // the nodes; "" for faults
	Time time.Duration `json:"time"` // from the zero of both
	Says [2]string     `json:"says"` // what each of them shows there
}

// The ways of comparing.
const (
	byName = "name"
	byRole = "role"
)

// compare compares two runs: by name, by role, or, with "", as it suits them.
func compare(a, b *record.Run, by string) *Comparison {
	c := &Comparison{By: by, Differences: []Difference{}, lines: [2]*report.Timeline{report.Trace(a), report.Trace(b)}}
	if by != byName && by != byRole {
		c.By = byRole
		if a.Seed == b.Seed && a.Target == b.Target && maps.Equal(a.Options, b.Options) && a.Cluster == b.Cluster &&
			record.Repeats(a.Cluster) && slices.Equal(c.lines[0].Names, c.lines[1].Names) {
			c.By = byName
		}
	}
	c.end = math.MaxInt64
	for i, r := range []*record.Run{a, b} {
		if c.By == byRole {
			c.Zero[i], _ = r.Frame().Settled()
			if s := r.Setup(); s != nil {
				c.Within = max(c.Within, s.Bounds.Silence)
			}
		}
		c.order[i] = c.ordered(i)
		c.end = min(c.end, c.lines[i].End-c.Zero[i])
	}
	for k := range min(len(c.order[0]), len(c.order[1])) {
		c.Pairs = append(c.Pairs, [2]string{c.lines[0].Names[c.order[0][k]], c.lines[1].Names[c.order[1][k]]})
	}
	c.recolour()
	for k, who := range c.Pairs {
		for _, what := range []string{"role", "term", "leader"} {
			c.note(what, who, c.turns(0, k, what), c.turns(1, k, what))
		}
	}
	c.note("fault", [2]string{}, c.faults(0), c.faults(1))
	slices.SortStableFunc(c.Differences, func(a, b Difference) int { return cmp.Compare(a.Time, b.Time) })
	return c
}

// ordered returns the nodes of a run in the order in which they are paired.
func (c *Comparison) ordered(run int) (order []int) {
	tl := c.lines[run]
	take := func(n int) {
		if n >= 0 && !slices.Contains(order, n) {
			order = append(order, n)
		}
	}
	if c.By == byRole {
		for _, claim := range tl.Claims {
			if claim.From <= c.Zero[run] && c.Zero[run] < claim.To {
				take(claim.Node)
			}
		}
		for i := range tl.Faults {
			for _, n := range tl.Faults[i].Nodes {
				take(slices.Index(tl.Names, n))
			}
		}
	}
	for n := range tl.Names {
		take(n)
	}
	return order
}

// recolour gives the nodes of a pair one colour.
func (c *Comparison) recolour() {
	next := 0
	for k := range c.Pairs {
		a, b := &c.lines[0].Nodes[c.order[0][k]], &c.lines[1].Nodes[c.order[1][k]]
		if a.Colour >= 0 || b.Colour >= 0 {
			colour := next % report.LeaderColours
			if a.Colour >= 0 {
				a.Colour = colour
			}
			if b.Colour >= 0 {
				b.Colour = colour
			}
			next++
		}
	}
}

// turn is something that changed.
type turn struct {
	at    time.Duration // from the zero
	key   string        // the same in both runs if it is the same
	words string
}

// turns are the changes of one node in one respect.
func (c *Comparison) turns(run, pair int, what string) (all []turn) {
	tl := c.lines[run]
	for _, s := range tl.Nodes[c.order[run][pair]].Segments {
		running := s.State == history.Up || s.State == history.Paused
		if s.To <= c.Zero[run] || running && !s.Known || !running && what != "role" {
			continue
		}
		t := turn{at: max(s.From-c.Zero[run], 0)}
		switch what {
		case "role":
			t.words = s.View.Role.String()
			if s.State != history.Up {
				t.words = string(s.State)
			}
			if t.key = t.words; c.By == byRole && s.State == history.Up && s.View.Role != history.Leader {
				t.key = "other"
			}
		case "term":
			t.key, t.words = fmt.Sprint(s.View.Term-c.base(run)), fmt.Sprintf("term %d", s.View.Term)
		case "leader":
			t.key, t.words = "", "knows of no leader"
			if s.View.Leader != "" {
				t.key, t.words = fmt.Sprint(slices.Index(c.order[run], slices.Index(tl.Names, s.View.Leader))), "takes "+s.View.Leader+" for the leader"
			}
		}
		if n := len(all); n == 0 || all[n-1].key != t.key {
			all = append(all, t)
		}
	}
	return all
}

// base is the highest term that was known at the zero; terms are compared from there.
func (c *Comparison) base(run int) (top uint64) {
	if c.By == byName {
		return 0
	}
	for i := range c.lines[run].Nodes {
		for _, s := range c.lines[run].Nodes[i].Segments {
			if s.From <= c.Zero[run] {
				top = max(top, s.View.Term)
			}
		}
	}
	return top
}

// faults are what the nemesis did.
func (c *Comparison) faults(run int) (all []turn) {
	tl := c.lines[run]
	for i := range tl.Faults {
		f := &tl.Faults[i]
		key, words := f.Name, f.Name
		for _, n := range f.Nodes {
			key += fmt.Sprint(" ", slices.Index(c.order[run], slices.Index(tl.Names, n)))
			words += " " + n
		}
		all = append(all, turn{f.From - c.Zero[run], "inject " + key, words + " begins"})
		if f.To < tl.End {
			all = append(all, turn{f.To - c.Zero[run], "heal " + key, words + " is healed"})
		}
	}
	slices.SortStableFunc(all, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	return all
}

// note takes note of where two rows of turns part, unless one of the runs was over by then.
func (c *Comparison) note(what string, who [2]string, a, b []turn) {
	for i := 0; i < len(a) || i < len(b); i++ {
		at := [2]time.Duration{math.MaxInt64, math.MaxInt64}
		for k, row := range [][]turn{a, b} {
			if i < len(row) {
				at[k] = row[i].at
			}
		}
		same := i < len(a) && i < len(b) && a[i].key == b[i].key
		if same && max(at[0], at[1])-min(at[0], at[1]) <= c.Within {
			continue
		}
		d := Difference{What: what, Who: who, Time: min(at[0], at[1])}
		if d.Time > c.end-c.Within {
			return
		}
		for k, row := range [][]turn{a, b} {
			switch {
			case at[k] == d.Time:
				d.Says[k] = row[i].words
			case i > 0 && i-1 < len(row):
				d.Says[k] = "still " + row[i-1].words
			default:
				d.Says[k] = "nothing yet"
			}
			if same && at[k] != d.Time {
				d.Says[k] += ", until " + report.Seconds(at[k])
			}
		}
		c.Differences = append(c.Differences, d)
		return
	}
}
