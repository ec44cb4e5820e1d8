package hunt

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"recount/harness"
	"recount/harness/record"
	"recount/harness/shrink"
	"recount/internal/whole"
	"recount/report"
)

// Keeper keeps findings: each as a run with its reports, and shrunk to a scenario and the run of that.
type Keeper struct {
	Results string        // folder under which runs get their own
	Origin  string        // the command that found them
	Shrink  shrink.Config // how to shrink; its Property is set for each
	Until   time.Time     // after which nothing more is shrunk; zero for no end
	// Tell is told before each finding is shrunk; it may be nil.
	Tell func(f Finding, more int)
}

// Kept is a finding that was kept.
type Kept struct {
	Finding
	Found  *record.Run    // as it was found
	Shrunk *shrink.Result // nil if there was no time to shrink it
	File   string         // the scenario that it was shrunk to, in the folder of Shrunk.Run
	Alike  int            // further runs that broke the same property in the same circumstances, or were shrunk to the same
	Others int            // runs that broke it in other circumstances, which were not shrunk
	Limit  string         // why they were not
}

// maxShrunk is how many findings of one hunt are shrunk. Those that differ only in the faults around them come to the
// same in the end.
const maxShrunk = 20

// Keep keeps the findings of a hunt, one of each signature. Of each property one is kept even where there is no time to shrink
// it; what else is not shrunk is counted. An error comes with what was kept until then, the finding that was being shrunk
// among it.
func (k Keeper) Keep(ctx context.Context, r *Result) (all []*Kept, err error) {
	groups := grouped(r.Findings)
	known, first := map[string]*Kept{}, map[string]*Kept{}
	for i, g := range groups {
		more := min(len(groups), maxShrunk) - i - 1
		left, timely := k.left(more)
		timely = timely && more >= 0 && ctx.Err() == nil
		if lead := first[g.Property]; lead != nil && !timely {
			lead.Others += 1 + g.Alike
			if lead.Limit == "" {
				lead.Limit = "there was no time for it"
				if more < 0 {
					lead.Limit = fmt.Sprintf("%d findings of a hunt are, at most", maxShrunk)
				}
			}
			continue
		}
		if k.Tell != nil {
			k.Tell(g.Finding, max(more, 0))
		}
		var small *shrink.Result
		var failed error
		if timely {
			cfg := k.Shrink
			cfg.Property = g.Property
			if left > 0 && (cfg.Budget == 0 || left < cfg.Budget) {
				cfg.Budget = left
			}
			small, failed = shrink.Shrink(ctx, g.run, cfg)
		}
		var same *Kept
		if small != nil {
			if same = known[small.Signature()]; same == nil {
				known[small.Signature()] = g
			}
		}
		if same != nil {
			same.Alike += 1 + g.Alike
		} else if err := k.keep(ctx, g, small); err != nil {
			return all, errors.Join(failed, err)
		} else {
			all = append(all, g)
			if first[g.Property] == nil {
				first[g.Property] = g
			}
		}
		if failed != nil {
			return all, failed
		}
	}
	return all, nil
}

// left is how long the next finding may take to shrink, with so many more to come, and whether there is time for it; 0 is
// as long as it takes.
func (k Keeper) left(more int) (time.Duration, bool) {
	if k.Until.IsZero() {
		return 0, true
	}
	left := time.Until(k.Until)
	if more > 0 {
		left /= 2
	}
	return left, left > 0
}

// grouped returns one finding of each kind, the one with the fewest faults and nodes, and how many others are of it.
func grouped(findings []Finding) (groups []*Kept) {
	kinds := map[string]*Kept{}
	for _, f := range findings {
		kind := f.Kind()
		g := kinds[kind]
		if g == nil {
			g = &Kept{Finding: f}
			kinds[kind] = g
			groups = append(groups, g)
			continue
		}
		g.Alike++
		if f.Size() < g.Size() {
			g.Finding = f
		}
	}
	slices.SortStableFunc(groups, func(a, b *Kept) int { return a.Size() - b.Size() })
	later := map[string]int{} // how many of the same property come before: for each property there is to be time
	rank := map[*Kept]int{}
	for _, g := range groups {
		rank[g] = later[g.Property]
		later[g.Property]++
	}
	slices.SortStableFunc(groups, func(a, b *Kept) int { return min(rank[a], 1) - min(rank[b], 1) })
	return groups
}

// Kind is the same for findings that are likely to be shrunk to the same.
func (f *Finding) Kind() string { return fmt.Sprint(f.Property, f.Under, f.Whole) }

// Size is how much there is to shrink.
func (f *Finding) Size() int { return 100*len(f.Plan.Schedule) + f.Plan.Nodes }

// keep writes a finding, and what it was shrunk to.
func (k Keeper) keep(ctx context.Context, g *Kept, small *shrink.Result) (err error) {
	if err := harness.Recall(g.run); err != nil {
		return err
	}
	if small != nil && small.Run == g.run { // nothing was left out: it is kept twice, each with its own report
		same := *g.run
		same.Dir, same.Verdicts = "", slices.Clone(same.Verdicts)
		small.Run = &same
	}
	g.Found = g.run
	err = k.store(ctx, g.Found, g.Property, func(dir string) (string, error) { return Repeat(dir, g.Found.Seed), nil })
	if err != nil || small == nil {
		return err
	}
	g.Shrunk = small
	g.File, err = k.Scenario(ctx, small, fmt.Sprintf("Found by run %d of:\n  %s", g.Run, k.Origin))
	return err
}

// Repeat is the command that makes a run again that a folder has.
func Repeat(dir string, seed uint64) string {
	return fmt.Sprintf("recount run --replay %s --seed %d", record.Quote(dir), seed)
}

// Scenario keeps the run of what another was shrunk to, and writes the scenario into its folder.
func (k Keeper) Scenario(ctx context.Context, small *shrink.Result, origin string) (file string, err error) {
	err = k.store(ctx, small.Run, small.Property, func(dir string) (string, error) {
		file = filepath.Join(dir, record.ScenarioFile(small.Property))
		words := []string{"recount run", file}
		if small.Run.Cluster != record.OnSim {
			words = append(words, "--on", small.Run.Cluster)
		}
		text, err := small.Scenario(origin) // which tells, too, what nodes wrote that ended: the logs are there by now
		if err == nil {
			err = whole.Write(file, text)
		}
		return strings.Join(words, " "), err
	})
	if err != nil {
		return "", err
	}
	return file, nil
}

// store gives a run a folder of its own, in which the property counts as required, and its reports. What else is to lie there fill
// writes; it returns the command that repeats the run.
func (k Keeper) store(ctx context.Context, r *record.Run, property string, fill func(dir string) (repeat string, err error)) error {
	if err := harness.Recall(r); err != nil {
		return err
	}
	r.Plan.Require = []string{property}
	r.Require(property)
	if err := harness.Keep(ctx, r, k.Results); err != nil {
		return err
	}
	var err error
	if r.Repeat, err = fill(r.Dir); err != nil {
		return err
	}
	return report.Write(r)
}
