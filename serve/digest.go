package serve

import (
	"cmp"
	"math"
	"slices"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/report"
)

// digest is what is kept of a history for who looks across runs: who led, what was broken, what rose. Times count from the run's
// beginning; nodes are places in names.
type digest struct {
	end     time.Duration
	silence time.Duration // the target's bounds; 0 if nobody says
	elect   time.Duration
	names   []string
	claims  []report.Claim // in order of time
	both    []report.Span  // when two nodes certainly led at once
	faults  []brokenBy     // in order of time
	away    []stretch      // when processes did not run
	runs    []stretch      // when nodes were candidates
	rises   []rise         // of the highest term that anybody had told of
	writes  []time.Duration
	exits   []stretch // processes that ended by themselves, at From
}

// brokenBy is a fault, and in which phase of the election it came.
type brokenBy struct {
	report.Span
	name  string
	nodes []int
	roles []string // of the nodes, when it came
	cut   []int    // nodes that it took a link of
	phase string
	took  history.Type // OK: seen to have taken effect; Fail: it has not; Info: nobody knows
}

// stretch is a time in which a node was something.
type stretch struct {
	report.Span
	node int
	was  history.ProcState
}

// rise is that a term was told of that is higher than all before.
type rise struct {
	at   time.Duration
	term uint64
}

// The phases of an election that a fault can come in, and the roles that it can hit.
var (
	phases = []string{"electing", "just elected", "settled", "under another fault", "just healed"}
	roles  = []string{"leader", "follower", "candidate"}
)

// mostOfEach is how many things of a kind a digest holds: of runs that bounce without end the first ones do.
const mostOfEach = 5000

// newDigest reads a run.
func newDigest(r *record.Run) *digest {
	tl := report.Trace(r)
	d := &digest{end: tl.End, names: tl.Names, claims: first(tl.Claims), both: first(tl.Both)}
	if s := r.Setup(); s != nil {
		d.silence, d.elect = s.Bounds.Silence, s.Bounds.Elect
	}
	for n := range tl.Nodes {
		for _, s := range tl.Nodes[n].Segments {
			switch {
			case s.State != history.Up:
				d.away = append(d.away, stretch{s.Span, n, s.State})
				if s.State == report.Exited {
					d.exits = append(d.exits, stretch{s.Span, n, s.State})
				}
			case s.Known && s.View.Role == history.Candidate:
				if k := len(d.runs); k > 0 && d.runs[k-1].node == n && d.runs[k-1].To == s.From { // of another term
					d.runs[k-1].To = s.To
				} else {
					d.runs = append(d.runs, stretch{s.Span, n, s.State})
				}
			}
			if s.Known {
				d.rises = append(d.rises, rise{s.From, s.View.Term})
			}
		}
	}
	d.raise()
	for _, w := range tl.Writes {
		if w.Stale() {
			d.writes = append(d.writes, w.At)
		}
	}
	for i := range tl.Faults {
		d.faults = append(d.faults, d.broken(tl, &tl.Faults[i]))
	}
	slices.SortStableFunc(d.faults, func(a, b brokenBy) int { return cmp.Compare(a.From, b.From) })
	d.date(tl.Claims)
	d.away, d.runs, d.rises = first(d.away), first(d.runs), first(d.rises)
	d.faults, d.writes, d.exits = first(d.faults), first(d.writes), first(d.exits)
	return d
}

// first returns the first of too many, in a slice that holds no more.
func first[T any](all []T) []T { return slices.Clone(all[:min(len(all), mostOfEach)]) }

// raise keeps of all terms that were told of those that were higher than all before.
func (d *digest) raise() {
	slices.SortStableFunc(d.rises, func(a, b rise) int { return cmp.Compare(a.at, b.at) })
	top, kept := uint64(0), d.rises[:0]
	for _, r := range d.rises {
		if r.term > top {
			top = r.term
			kept = append(kept, r)
		}
	}
	d.rises = kept
}

func (d *digest) broken(tl *report.Timeline, f *report.FaultBar) brokenBy {
	b := brokenBy{Span: f.Span, name: f.Name, took: f.Took}
	hit := f.Nodes
	if len(hit) == 0 {
		hit = touched(&f.Changes)
	}
	for _, name := range hit {
		if n := slices.Index(d.names, name); n >= 0 {
			b.nodes = append(b.nodes, n)
			b.roles = append(b.roles, roleAt(&tl.Nodes[n], f.From))
		}
	}
	for _, l := range f.Links {
		for _, name := range []string{l.From, l.To} {
			if n := slices.Index(d.names, name); l.Cut && n >= 0 && !slices.Contains(b.cut, n) {
				b.cut = append(b.cut, n)
			}
		}
	}
	return b
}

// touched are the nodes that a change concerns: whom a fault hits that is aimed at nobody by name.
func touched(c *history.Changes) (names []string) {
	for _, s := range c.States() {
		names = append(names, s.Key().Nodes()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// roleAt is what a node was just before an instant: a role, the state of its process, or "not observed".
func roleAt(lane *report.Lane, at time.Duration) string {
	i, found := slices.BinarySearchFunc(lane.Segments, at, func(s report.Segment, at time.Duration) int { return cmp.Compare(s.To, at) })
	if !found && i == len(lane.Segments) || len(lane.Segments) == 0 {
		return "not observed"
	}
	switch s := lane.Segments[i]; {
	case s.State != history.Up:
		return string(s.State)
	case !s.Known:
		return "not observed"
	default:
		return s.View.Role.String()
	}
}

// date says of each fault in which phase it came. Claims and faults are in order of time, and each is looked at twice at most.
func (d *digest) date(claims []report.Claim) {
	var leading []report.Claim           // of those that began before, such as may not have ended
	next := 0                            // claim
	last := time.Duration(math.MinInt64) // when all faults that came before were healed
	for from := 0; from < len(d.faults); {
		at := d.faults[from].From
		for ; next < len(claims) && claims[next].From < at; next++ {
			leading = append(leading, claims[next])
		}
		for len(leading) > 0 && leading[len(leading)-1].To < at {
			leading = leading[:len(leading)-1]
		}
		phase := "settled"
		switch n := len(leading); {
		case last > at:
			phase = "under another fault"
		case n == 0:
			phase = "electing"
		case last >= 0 && at-last <= d.elect:
			phase = "just healed"
		case at-leading[n-1].From <= d.silence:
			phase = "just elected"
		}
		to := from
		for ; to < len(d.faults) && d.faults[to].From == at; to++ {
			d.faults[to].phase = phase
		}
		for ; from < to; from++ {
			if f := &d.faults[from]; f.took != history.Fail {
				last = max(last, f.To)
			}
		}
	}
}
