package cli

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"recount/harness"
	"recount/harness/batch"
	"recount/harness/hunt"
	"recount/harness/record"
	"recount/internal/count"
	"recount/internal/hint"
	"recount/targets"
	"recount/workloads"
)

// huntFlags are what the command line says of a hunt.
type huntFlags struct {
	hunt.Config
	options, faults, work []string
	nodes, results        string
	shrinking             shrinkFlags
	asJSON                bool
}

func init() { register(huntCommand) }

func huntCommand() *cobra.Command {
	var given huntFlags
	cmd := &cobra.Command{
		Use:   "hunt --target T",
		Short: "Search for faults that break an election, and shrink what is found",
		Long: `Search for faults that break an election, and shrink what is found.

A hunt makes many runs with schedules drawn from the faults, simulated, on all cores. It varies those whose runs reached
something new: other roles, terms and links together than any run before. It stops at the first promised property that breaks,
or the one that --property names; with --keep-going it goes on, and keeps one finding of each signature: the same property broken
by the same faults, shrunk, at roughly the same times. The same seed makes the same runs, in the same order, whatever the number
of jobs.

Each finding is kept as a run, and shrunk: to fewer faults and nodes, simpler faults, shorter and rounder times, and the simplest
seed that still break the property. What is left is written as a scenario that tells what happens, and kept with its run. Ctrl-C
ends the hunt, and then the shrinking; what was found is kept.

A run whose nodes do not come up is counted, and the first one kept. Sizes of clusters that never start are left out.

Exit status: 0 nothing was found; 1 a property broke; 2 interrupted before one did, no run decided anything, or one did not start.`,
		Example: `  recount hunt --target raft --opt forget-vote=true --property single-leader-per-term
  recount hunt --target blazingmq-term --property no-ping-pong --nemesis cut-link,isolate
  recount hunt --target raft-prevote --nodes 3-7 --opt scale=1,2 --budget 10m --keep-going
  recount hunt --target etcd --opt version=3.4.23 --property sticky-leader --nemesis isolate --on docker --budget 20m
  recount hunt --target mine.yaml --on virtual`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := given.parse(cmd); err != nil {
				return err
			}
			return given.hunt(cmd)
		},
	}
	f := cmd.Flags()
	f.StringVar(&given.Target, "target", "", "the election to hunt: a name (recount list targets), or a spec file (recount init)")
	f.StringArrayVar(&given.options, "opt", nil, "an option of the target, `name=value,value`, drawn from several values; may be given again")
	f.StringSliceVar(&given.faults, "nemesis", []string{"all"}, "faults to draw from, or all (recount list faults)")
	f.StringVar(&given.Property, "property", "", "what must break, promised or not (default: anything that is promised; recount list checkers)")
	f.StringVar(&given.nodes, "nodes", "", "sizes of clusters, `from-to` or one, and how small what is found is shrunk to (default: the target's, or 2 to 7, and now and then 9 or 13)")
	f.DurationVar(&given.Time, "time", 0, "virtual time of a run (default: 40 silences of the target, 10s to 60s, and time for a fault; on virtual mostly until soon after the last fault)")
	f.StringSliceVar(&given.work, "workload", nil, "what clients do (default: what the property takes, such as fence for fencing, and now and then others; on virtual what a promise takes)")
	f.DurationVar(&given.Budget, "budget", 0, "real time after which the hunt ends (default: 60s, or 15m on containers; with --runs, none)")
	f.IntVar(&given.Runs, "runs", 0, "number of runs after which the hunt ends (default: none)")
	f.IntVar(&given.Jobs, "jobs", 0, "runs at a time (default: one a core, or one on containers)")
	f.BoolVar(&given.KeepGoing, "keep-going", false, "go on after the first finding")
	f.StringVar(&given.On, "on", record.OnSim, "where the nodes run: sim, virtual or docker")
	f.StringSliceVar(&given.Goroutines, "goroutines", nil, "with --on virtual, orders of goroutines to draw from (default: fifo,random,pct)")
	f.Uint64Var(&given.Seed, "seed", 0, "decides all that is drawn (default: a random one, printed)")
	f.StringVar(&given.results, "results", "results", "folder under which findings get their own")
	f.BoolVar(&given.asJSON, "json", false, "print the findings as one JSON object")
	given.shrinking.register(f, "shrink-")
	return cmd
}

func (g *huntFlags) parse(cmd *cobra.Command) (err error) {
	set := cmd.Flags().Changed
	if g.Target == "" {
		return hint.Add(fmt.Errorf("nothing to hunt"), "name a --target; recount list targets shows them")
	}
	if g.Options, err = parseRanges(g.options); err != nil {
		return err
	}
	g.shrinking.pinned = g.Pinned()
	if set("nodes") {
		if g.Nodes, err = parseSizes(g.nodes); err != nil {
			return err
		}
		g.shrinking.fewest = g.Nodes[0] // which is what somebody wants to see
	} else if g.On == record.OnDocker {
		g.Nodes = [2]int{3, 7}
	}
	if g.Faults, err = expand(g.faults, hunt.Faults(g.Target, g.On)); err != nil {
		return err
	}
	for _, flag := range []struct {
		name string
		bad  bool
	}{{"budget", g.Budget <= 0}, {"runs", g.Runs <= 0}, {"time", g.Time <= 0}, {"jobs", g.Jobs <= 0}} {
		if set(flag.name) && flag.bad {
			return hint.Add(fmt.Errorf("--%s %s: want more than none", flag.name, cmd.Flag(flag.name).Value), "leave it out for the default")
		}
	}
	repeats := record.Repeats(g.On)
	if !set("budget") && !set("runs") {
		if g.Budget = time.Minute; !repeats {
			g.Budget = 15 * time.Minute
		}
	}
	if !set("jobs") && !repeats {
		g.Jobs = 1
	}
	if g.Workloads = g.work; !set("workload") {
		if t, err := targets.Find(g.Target); err == nil {
			g.Workloads = harness.Applicable(workloads.Serving(g.Property), t)
			if g.On == record.OnSim {
				if g.Sometimes = hunt.Workloads(t); g.Property == "" {
					g.Workloads = nil // each of them now and then
				}
			}
			if g.On == record.OnVirtual && g.Property == "" { // clients cost more there than all else
				g.Workloads = hunt.Promised(g.Workloads, t)
			}
		}
	}
	if !set("seed") {
		g.Seed = uint64(rand.Uint32())
	}
	return g.shrinking.check("shrink-")
}

// parseRanges reads name=value,value words.
func parseRanges(words []string) (map[string][]string, error) {
	single, err := parseOptions(words)
	if err != nil {
		return nil, err
	}
	ranges := map[string][]string{}
	for name, values := range single {
		ranges[name] = strings.Split(values, ",")
	}
	return ranges, nil
}

// parseSizes reads "3-7" or "5".
func parseSizes(s string) (sizes [2]int, err error) {
	from, to, ranged := strings.Cut(s, "-")
	if !ranged {
		to = from
	}
	sizes[0], err = strconv.Atoi(from)
	if err == nil {
		sizes[1], err = strconv.Atoi(to)
	}
	if err != nil {
		err = hint.Add(fmt.Errorf("--nodes %q is neither a number nor a range", s), "--nodes 3-7")
	} else if sizes[0] < 1 {
		err = hint.Add(fmt.Errorf("--nodes %s: a cluster has nodes", s), "--nodes 3-7")
	}
	return sizes, err
}

func (g *huntFlags) hunt(cmd *cobra.Command) error {
	batch.SpareCollections()
	ctx := cmd.Context()
	if err := g.Check(); err != nil {
		return err
	}
	scratch, err := harness.OpenScratch(g.On, g.results)
	if err != nil {
		return failure{err}
	}
	defer discard(cmd, scratch)
	if !record.Repeats(g.On) {
		g.Make = quietly(scratch)
	}
	bar := newProgress(cmd)
	ctx = bar.building(ctx)
	notes := batch.NewNotes(filepath.Join(g.results, "hunt", time.Now().Format("20060102-150405.000")),
		batch.Noted{Kind: "hunt", Name: strings.TrimSpace(g.Target + " " + g.Property), Command: repeat(cmd, nil, g.Seed)})
	defer notes.End()
	g.Progress = func(p hunt.Progress) {
		bar.tell(func() string { return g.progress(p) })
		notes.Note(g.far(p), p.Findings, p.Coverage)
	}
	say(cmd)(fmt.Sprintf("seed %d", g.Seed))
	back := processors(g.On, g.Jobs)
	r, failed := hunt.Hunt(ctx, g.Config)
	back()
	bar.end()
	if r == nil {
		return failure{failed}
	}
	keeper := hunt.Keeper{Results: g.results, Origin: repeat(cmd, nil, g.Seed), Shrink: g.shrinking.config(g.On, scratch, bar)}
	if g.KeepGoing && g.Budget > 0 {
		keeper.Until = r.Begun.Add(g.Budget)
	}
	keeper.Tell = func(f hunt.Finding, more int) {
		bar.end()
		line := fmt.Sprintf("%s broke in run %d", f.Property, f.Run)
		if more > 0 {
			line += fmt.Sprintf("; %d other findings come after it", more)
		}
		say(cmd)(line)
	}
	kept, err := keeper.Keep(ctx, r)
	bar.end()
	coverage, uncovered := g.coverage(r)
	err = errors.Join(err, uncovered)
	failed = errors.Join(failed, err)
	unstarted := ""
	if r.Unstarted != nil {
		if unstarted, err = keeper.Unstarted(ctx, r.Unstarted); err != nil {
			say(cmd)(fmt.Sprintf("run %d, which did not start, was not kept: %v", r.Unstarted.Run, err))
		}
	}
	stuck := ""
	if r.Stuck != nil {
		if stuck, err = keeper.Stuck(ctx, r.Stuck); err != nil {
			say(cmd)(fmt.Sprintf("run %d, which stood still, was not kept: %v", r.Stuck.Run, err))
		}
	}
	if len(kept) == 0 && len(r.Findings) > 0 { // it was found, though it could not be kept
		kept = []*hunt.Kept{{Finding: r.Findings[0], Found: &record.Run{}}}
	}
	if failed != nil && len(kept) == 0 {
		if unstarted != "" {
			say(cmd)(fmt.Sprintf("run %d is kept in %s", r.Unstarted.Run, unstarted))
		}
		if stuck != "" {
			say(cmd)(fmt.Sprintf("run %d, which stood still, is kept in %s", r.Stuck.Run, stuck))
		}
		return failure{failed}
	}
	status := record.StatusHeld
	switch {
	case len(kept) > 0:
		status = record.StatusBroken
	case r.Interrupted, r.Judged == 0, r.Unstarted != nil, r.Stuck != nil:
		status = record.StatusUnknown
	}
	return despite(cmd, status, errors.Join((huntReport{g, r, kept, unstarted, stuck, coverage, status}).print(cmd.OutOrStdout()), failed))
}

// coverage keeps which statements of the nodes' programs ran in all runs, where they tell, and returns the file.
func (g *huntFlags) coverage(r *hunt.Result) (file string, err error) {
	if r.Looked.Code == nil {
		return "", nil
	}
	dir := filepath.Join(g.results, "coverage")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	file = filepath.Join(dir, r.Begun.Format("20060102-150405.000")+".out")
	return file, harness.WriteCoverage(file, r.Looked.Code.Profile)
}

// far is how far a hunt is.
func (g *huntFlags) far(p hunt.Progress) batch.Progress {
	return batch.Progress{Doing: "hunting " + g.Target, Done: p.Done(), Planned: g.Runs, Passed: p.Took}.Estimate(g.Budget)
}

// progress is one line about a hunt under way.
func (g *huntFlags) progress(p hunt.Progress) string {
	missed, stood := "", ""
	if p.NotStarted > 0 {
		missed = fmt.Sprintf("%d did not start", p.NotStarted)
	}
	if p.StoodStill > 0 {
		stood = fmt.Sprintf("%d came to a standstill", p.StoodStill)
	}
	return far(g.far(p), "run", g.Budget, pace(p), fmt.Sprintf("coverage %d", p.Coverage), count.Of(p.Findings, "finding"), missed, stood)
}

// pace is how fast runs were made. Of real servers one may take seconds.
func pace(p hunt.Progress) string {
	rate := float64(p.Runs) / max(p.Took.Seconds(), 0.001)
	switch {
	case rate >= 9.5:
		return fmt.Sprintf("%.0f a second", rate)
	case rate >= 0.95 || p.Runs == 0:
		return fmt.Sprintf("%.1f a second", rate)
	}
	return fmt.Sprintf("%.1f s a run", 1/rate)
}
