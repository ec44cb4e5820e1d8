package hunt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"recount/harness"
	"recount/harness/record"
	"recount/harness/shrink"
	"recount/report"
)

// Keeper keeps findings: each as a run with its reports, and shrunk to a scenario and the run of that.
type Keeper struct {
	Results string        // folder under which runs get their own
	Origin  string        // the command that found them
	Shrink  shrink.Config // how to shrink; its Property is set for each
	// Adopt keeps a run that was made on containers: it takes its folder over. Runs in simulation are made again.
	Adopt func(r *record.Run) error
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
}

// maxShrunk is how many findings of one hunt are shrunk. Those that differ only in the faults around them come to the
// same in the end.
const maxShrunk = 20

// Keep keeps the findings of a hunt, one of each kind. When ctx ends it shrinks no more, and keeps the rest as it is. An error
// comes with what was kept until then, the finding that was being shrunk among it.
func (k Keeper) Keep(ctx context.Context, r *Result) (all []*Kept, err error) {
	groups := grouped(r.Findings)
	known := map[string]*Kept{}
	for i, g := range groups {
		if k.Tell != nil {
			k.Tell(g.Finding, len(groups)-i-1)
		}
		if g.run == nil {
			if g.run, err = harness.Simulate(context.WithoutCancel(ctx), g.Plan); err != nil {
				return all, err
			}
		}
		var small *shrink.Result
		var failed error
		if i < maxShrunk && ctx.Err() == nil {
			cfg := k.Shrink
			cfg.Property = g.Property
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
		} else if err := k.keep(context.WithoutCancel(ctx), g, small); err != nil {
			return all, errors.Join(failed, err)
		} else {
			all = append(all, g)
		}
		if failed != nil {
			return all, failed
		}
	}
	return all, nil
}

// grouped returns one finding of each kind, the one with the fewest faults and nodes, and how many others are of it.
func grouped(findings []Finding) (groups []*Kept) {
	kinds := map[string]*Kept{}
	for _, f := range findings {
		kind := fmt.Sprint(f.Property, f.Under, f.Whole)
		g := kinds[kind]
		if g == nil {
			g = &Kept{Finding: f}
			kinds[kind] = g
			groups = append(groups, g)
			continue
		}
		g.Alike++
		if size(f) < size(g.Finding) {
			g.Finding = f
		}
	}
	slices.SortStableFunc(groups, func(a, b *Kept) int { return size(a.Finding) - size(b.Finding) })
	return groups
}

// size is how much there is to shrink.
func size(f Finding) int { return 100*len(f.Plan.Schedule) + f.Plan.Nodes }

// keep writes a finding, and what it was shrunk to.
func (k Keeper) keep(ctx context.Context, g *Kept, small *shrink.Result) (err error) {
	if g.Found, err = k.store(ctx, g.run, g.Property); err != nil {
		return err
	}
	if err := k.repeat(g.Found, fmt.Sprintf("recount run --replay %s --seed %d", g.Found.Dir, g.Found.Seed)); err != nil {
		return err
	}
	if small == nil {
		return nil
	}
	g.Shrunk = small
	g.File, err = k.Scenario(ctx, small, fmt.Sprintf("Found by run %d of:\n  %s", g.Run, k.Origin))
	return err
}

// Scenario keeps the run of what another was shrunk to, and writes the scenario into its folder.
func (k Keeper) Scenario(ctx context.Context, small *shrink.Result, origin string) (file string, err error) {
	text, err := small.Scenario(origin)
	if err != nil {
		return "", err
	}
	if small.Run, err = k.store(ctx, small.Run, small.Property); err != nil {
		return "", err
	}
	file = filepath.Join(small.Run.Dir, small.Property+".yaml")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return "", fmt.Errorf("hunt: %w", err)
	}
	words := []string{"recount run", file}
	if small.Run.Cluster != record.OnSim {
		words = append(words, "--on", small.Run.Cluster)
	}
	return file, k.repeat(small.Run, strings.Join(words, " "))
}

// store gives a run a folder of its own, in which the property counts as required.
func (k Keeper) store(ctx context.Context, r *record.Run, property string) (*record.Run, error) {
	p := r.Plan
	p.Require = []string{property}
	if r.Cluster == record.OnSim {
		return harness.Run(ctx, p, harness.Config{Results: k.Results})
	}
	if err := k.Adopt(r); err != nil {
		return nil, err
	}
	r.Plan = p
	harness.Judge(ctx, r)
	return r, nil
}

// repeat rewrites a run's reports with the command that repeats it.
func (k Keeper) repeat(r *record.Run, command string) error {
	r.Repeat = command
	return report.Write(r)
}
