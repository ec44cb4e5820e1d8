package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"recount/harness"
	"recount/harness/batch"
	"recount/harness/hunt"
	"recount/harness/record"
	"recount/harness/shrink"
	"recount/internal/count"
	"recount/internal/hint"
)

// shrinkFlags say how to shrink. With a prefix they belong to a hunt.
type shrinkFlags struct {
	budget   time.Duration
	need, of int
	jobs     int
	fewest   int // nodes
	pinned   []string
}

func (s *shrinkFlags) register(f *pflag.FlagSet, prefix string) {
	f.DurationVar(&s.budget, prefix+"budget", 0, "real time after which shrinking ends with the least so far (default: none in simulation, 5m in virtual time, 30m on containers)")
	f.IntVar(&s.need, prefix+"hits", 2, "on containers, how many of these runs must show the violation")
	f.IntVar(&s.of, prefix+"attempts", 3, "on containers, how many runs of each plan are made")
}

// config is the configuration of a shrinking that makes its runs on a cluster of that kind.
func (s *shrinkFlags) config(on string, scratch *harness.Scratch, bar *progress) shrink.Config {
	cfg := shrink.Config{Make: quietly(scratch), Jobs: s.jobs, Budget: s.budget, Fewest: s.fewest, Pinned: s.pinned}
	cfg.Progress = func(p shrink.Progress) {
		bar.tell(func() string { return shrinkProgress(p) })
	}
	if record.Repeats(on) {
		if cfg.Budget == 0 && on == record.OnVirtual {
			cfg.Budget = 5 * time.Minute
		}
		return cfg
	}
	if cfg.Budget == 0 {
		cfg.Budget = 30 * time.Minute
	}
	cfg.Jobs, cfg.Need, cfg.Of, cfg.Measure = 1, s.need, s.of, 10
	return cfg
}

// shrinkProgress is one line about shrinking under way: how much there is to try nobody knows.
func shrinkProgress(p shrink.Progress) string {
	at := batch.Progress{Doing: "shrinking", Done: p.Runs, Passed: p.Took}.Estimate(p.Budget)
	return far(at, "run", p.Budget, fmt.Sprintf("%s tried", count.Of(p.Tried, "plan")), fmt.Sprintf("down to %s and %s", count.Of(p.Plan.Nodes, "node"), shrink.Faults(p.Plan)))
}

func (s *shrinkFlags) check(prefix string) error {
	if s.need < 1 || s.of < s.need {
		return hint.Add(fmt.Errorf("--%shits %d --%sattempts %d: want so many hits of so many attempts", prefix, s.need, prefix, s.of),
			"--%shits 2 --%sattempts 3", prefix, prefix)
	}
	return nil
}

func init() { register(shrinkCommand) }

func shrinkCommand() *cobra.Command {
	var (
		how                           shrinkFlags
		property, target, on, results string
		asJSON                        bool
	)
	cmd := &cobra.Command{
		Use:   "shrink RUN",
		Short: "Find the least that it takes to break a property as a run did",
		Long: `Find the least that it takes to break a property as a run did: fewer faults, fewer nodes, simpler faults, shorter and rounder
times, the simplest seed. RUN is a run's folder. What is left is written as a scenario that tells what happens, in the folder of
its own run. Ctrl-C ends it with the least so far.

In simulation a plan is tried with many seeds, and what comes of one seed is certain. On containers so many of so many attempts
must show the violation, and the scenario says how many of ten further runs did. The time for these is set aside of the budget.

Exit status: 0 shrunk; 2 interrupted, so perhaps not the least.`,
		Example: `  recount shrink results/latest
  recount shrink results/latest --property no-ping-pong --nodes 3
  recount shrink results/latest --on docker --attempts 10 --hits 8 --budget 2h`,
		Args: one("run's folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := how.check("")
			if err == nil && cmd.Flags().Changed("nodes") {
				err = harness.CheckSize(how.fewest)
			}
			if err != nil {
				return err
			}
			stored, err := readRun(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if stored.Plan, err = planAgain(cmd, stored, target); err != nil {
				return err
			}
			if on == "" {
				on = stored.Cluster
			}
			batch.SpareCollections()
			scratch, err := harness.OpenScratch(on, results)
			if err != nil {
				return failure{err}
			}
			defer discard(cmd, scratch)
			defer processors(on, how.jobs)()
			s, file, err := shrinkStored(cmd, stored, property, on, results, scratch, &how)
			if file != "" {
				err = errors.Join(err, printShrunk(cmd.OutOrStdout(), s, file, asJSON))
			}
			switch {
			case err != nil:
				return failure{err}
			case s.Interrupted:
				return verdict(record.StatusUnknown)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&property, "property", "", "what must stay broken (default: the first promise that the run broke, or the first property)")
	f.StringVar(&target, "target", "", "file that describes the run's target, where it is not where it was")
	f.StringVar(&on, "on", "", "where to try plans: sim, virtual or docker (default: where the run was made)")
	f.IntVar(&how.fewest, "nodes", 0, "size of the smallest cluster to try (default: the target's, or 2)")
	f.IntVar(&how.jobs, "jobs", 0, "simulated runs at a time (default: one a core)")
	f.StringVar(&results, "results", "results", "folder under which the shrunk run gets its own")
	f.BoolVar(&asJSON, "json", false, "print what came of it as one JSON object")
	how.register(f, "")
	return cmd
}

// planAgain is the plan of a stored run, as it is to be made here and now; file describes its target, "" for the one that did.
func planAgain(cmd *cobra.Command, stored *record.Run, file string) (record.Plan, error) {
	if !stored.Plan.Known() {
		err := fmt.Errorf("%s: a history without the plan of its run", stored.Title)
		return stored.Plan, hint.Add(err, "name the run's folder")
	}
	plan, notes, err := harness.PlanAgain(stored, file)
	for _, note := range notes {
		say(cmd)(note)
	}
	return plan, err
}

// shrinkStored shrinks a stored run, which is made again first: its history tells nothing about what happens here and
// now. It returns the least so far beside an error of a run on the way.
func shrinkStored(cmd *cobra.Command, stored *record.Run, property, on, results string, scratch *harness.Scratch, how *shrinkFlags) (*shrink.Result, string, error) {
	plan := stored.Plan
	bar := newProgress(cmd)
	defer bar.end()
	ctx := bar.building(cmd.Context())
	plan.On = on
	cfg := how.config(on, scratch, bar)
	cfg.Property = cmp.Or(property, shrink.Broken(stored)) // what the run made again breaks may be another
	again, err := cfg.Make(ctx, plan)
	shown := func() bool { return err == nil && shrink.Breaks(again, cfg.Property) }
	for i := 1; i < cfg.Of && (err == nil || harness.DidNotStart(err) != nil) && !shown() && ctx.Err() == nil; i++ {
		again, err = cfg.Make(ctx, plan)
	}
	if err != nil {
		return nil, "", err
	}
	s, failed := shrink.Shrink(ctx, again, cfg)
	if s == nil {
		return nil, "", failed
	}
	k := hunt.Keeper{Results: results}
	file, err := k.Scenario(ctx, s, "Shrunk by:\n  recount shrink "+stored.Dir)
	return s, file, errors.Join(failed, err)
}

func printShrunk(w io.Writer, s *shrink.Result, file string, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(asShrunk(s, file))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: from %d nodes and %s, in %d runs\n", s.Property, s.From.Nodes, shrink.Faults(s.From), s.Runs)
	writeShrunk(&b, s, file, "--budget")
	_, err := io.WriteString(w, b.String())
	return err
}

// quietly makes runs of which nothing is told on the way.
func quietly(scratch *harness.Scratch) func(context.Context, record.Plan) (*record.Run, error) {
	return func(ctx context.Context, plan record.Plan) (*record.Run, error) { return scratch.Run(ctx, plan, nil) }
}

// discard removes the runs that were not kept, and says so if it cannot.
func discard(cmd *cobra.Command, scratch *harness.Scratch) {
	if err := scratch.Close(); err != nil {
		say(cmd)(err.Error())
	}
}
