package cli

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"recount/harness"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/report"
)

// runFlags are what the command line says of a run.
type runFlags struct {
	target, on, results, recorded string
	goroutines                    string
	options, faults, work, demand []string
	nodes                         int
	length                        time.Duration
	seed                          uint64
	asJSON                        bool
	suite, shard                  string
	jobs                          int
}

func init() { register(runCommand) }

func runCommand() *cobra.Command {
	var given runFlags
	cmd := &cobra.Command{
		Use:   "run [SCENARIO | FILE.yaml]",
		Short: "Make one run and judge it",
		Long: `Make one run and judge it.

A scenario says which faults come when, on which target, and what it expects of that target; with another --target, that
target's promises decide. Without a scenario, faults are drawn from those that --nemesis names, by the seed.

--replay makes a stored run again, from its folder or its history.jsonl. A simulated run must come out the same, op by op; if
it does not, the status is 255 and the first op that differs is named. Otherwise (in containers, or with another --target,
--opt, --seed or place to run --on, and from a history without the run.json beside it) the faults come again as they were
resolved: on the same nodes, at the same times.

--suite makes all runs that a suite file lists: targets × scenarios × seeds. A weakness that the file does not know makes the
status 1. Ctrl-C keeps what is done, and the status is 2.

Exit status: 0 every promise that was put to the test held, or what the scenario expects happened; 1 a promise broke, or what
the scenario expects did not happen; 2 nothing was decided; 254 the command line or a file is wrong; 255 the harness or the engine
failed.`,
		Example: `  recount run ping-pong
  recount run non-sticky-leader --on docker --target etcd --opt version=3.4.23
  recount run non-sticky-leader --on docker --target mine.yaml       # an election of your own: recount init
  recount run --target raft --nemesis isolate,kill --workload fence --time 2m --seed 7
  recount run --target raft-prevote --nemesis all --require no-ping-pong --json
  recount run --replay results/latest
  recount run --replay results/latest --on docker
  recount run --suite suite.yaml --shard 1/3`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if given.suite != "" {
				return given.runSuite(cmd, args)
			}
			for _, name := range []string{"shard", "jobs"} {
				if cmd.Flags().Changed(name) {
					return hint.Add(fmt.Errorf("--%s without --suite", name), "recount run --suite FILE")
				}
			}
			return given.run(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&given.target, "target", "", "the election to test: a name (recount list targets), or a spec file (recount init)")
	f.StringArrayVar(&given.options, "opt", nil, "an option of the target, `name=value`; may be given again")
	f.StringVar(&given.on, "on", record.OnSim, "where the nodes run: sim (algorithms, in virtual time), virtual (real Go servers, in virtual time) or docker")
	f.StringVar(&given.goroutines, "goroutines", "", "with --on virtual, which of the goroutines that can run goes next: fifo, random or pct (default: the scenario's, or fifo)")
	f.IntVar(&given.nodes, "nodes", 0, "number of nodes (default: the scenario's, or the target's, or 5; 3 where servers stand beside them)")
	f.DurationVar(&given.length, "time", 0, "from the first leader to the final healing (default: the scenario's, or 30s)")
	f.Uint64Var(&given.seed, "seed", 0, "the run's only source of randomness (default: the scenario's, or a random one, printed)")
	f.StringSliceVar(&given.faults, "nemesis", nil, "faults to draw from, or all, or none (recount list faults)")
	f.StringSliceVar(&given.work, "workload", nil, "what clients do besides observing (recount list workloads)")
	f.StringSliceVar(&given.demand, "require", nil, "properties that must hold, promised or not (recount list checkers)")
	f.StringVar(&given.recorded, "replay", "", "make this stored `RUN` again: a run's folder, or its history.jsonl")
	f.StringVar(&given.suite, "suite", "", "make the runs of this suite `FILE`")
	f.StringVar(&given.shard, "shard", "", "of a suite, make only part `i/n`")
	f.IntVar(&given.jobs, "jobs", 0, "of a suite, simulated runs at a time (default: one a core)")
	f.StringVar(&given.results, "results", "results", "folder under which the run gets its own")
	f.BoolVar(&given.asJSON, "json", false, "print the verdicts as one JSON object")
	return cmd
}

// run makes the run, shows it, and compares it with the run that it repeats, if it does.
func (g *runFlags) run(cmd *cobra.Command, args []string) error {
	p, again, err := g.plan(cmd, args)
	if err != nil {
		return err
	}
	check := harness.Check
	if again != nil {
		check = harness.CheckAgain
	}
	if err := check(p); err != nil {
		return err
	}
	say(cmd)(fmt.Sprintf("seed %d", p.Seed))
	defer processors(p.On, 1)()
	r, err := harness.Run(cmd.Context(), p, harness.Config{
		Results: g.results, Repeat: repeat(cmd, args, p.Seed), Progress: say(cmd),
	})
	var another error
	if err == nil && again != nil {
		another = again.compare(cmd, r)
	}
	if err == nil {
		err = show(cmd, r, g.asJSON)
	}
	if err == nil {
		announceRun(cmd, r)
	}
	if err = cmp.Or(err, another); err != nil {
		return failure{err}
	}
	return verdict(r.Status)
}

// plan works out what to run, and what that repeats if it does.
func (g *runFlags) plan(cmd *cobra.Command, args []string) (p record.Plan, again *replay, err error) {
	p = record.Plan{Target: g.target, On: g.on, Nodes: g.nodes, Time: g.length, Seed: g.seed, Require: g.demand, Goroutines: g.goroutines}
	options, err := parseOptions(g.options)
	if err != nil {
		return p, nil, err
	}
	set := cmd.Flags().Changed
	seeded := set("seed")
	if g.recorded != "" {
		if p.Options = options; !set("on") {
			p.On = ""
		}
		again, err = g.replayed(cmd, args, p)
		if err != nil {
			return p, nil, err
		}
		return again.Plan, again, nil
	}
	if len(args) == 1 {
		s, err := harness.LoadScenario(args[0])
		if err != nil {
			return p, nil, err
		}
		if g.target == "" {
			if err := s.CheckTarget(); err != nil {
				return p, nil, err
			}
		}
		if p = s.Plan(p); s.Seed != nil && !set("seed") {
			p.Seed, seeded = *s.Seed, true
		}
	}
	switch {
	case p.Target == "":
		return p, nil, hint.Add(fmt.Errorf("nothing to run"), "name a scenario or a --target; recount list targets|scenarios shows them")
	case set("time") && g.length <= 0:
		return p, nil, hint.Add(fmt.Errorf("--time %v: a run lasts a positive time", g.length), "--time 30s")
	case set("nodes") && g.nodes <= 0:
		return p, nil, hint.Add(fmt.Errorf("--nodes %d: a cluster has nodes", g.nodes), "--nodes 5")
	}
	if p.Options == nil {
		p.Options = map[string]string{}
	}
	maps.Copy(p.Options, options)
	if set("nemesis") {
		if p.Faults, err = expand(g.faults, harness.Drawn(p.Target, p.Options, p.On)); err != nil {
			return p, nil, err
		}
		p.Schedule, p.Expect = nil, nil
	}
	if set("workload") {
		p.Workloads, p.Unfit = g.work, nil
	}
	if !seeded {
		p.Seed = uint64(rand.Uint32())
	}
	return p, nil, nil
}

// replayed is the stored run that is to be made again, by a plan that says what is to be different.
func (g *runFlags) replayed(cmd *cobra.Command, args []string, with record.Plan) (*replay, error) {
	if path, err := filepath.EvalSymlinks(g.recorded); err == nil {
		g.recorded = path // results/latest is another run from now on
	}
	return openReplay(cmd, args, g.recorded, with)
}

// parseOptions reads name=value words.
func parseOptions(words []string) (map[string]string, error) {
	options := map[string]string{}
	for _, o := range words {
		k, v, ok := strings.Cut(o, "=")
		if !ok {
			return nil, hint.Add(fmt.Errorf("--opt %q is not name=value", o), "--opt scale=0.5")
		}
		options[k] = v
	}
	return options, nil
}

// expand turns the words of --nemesis into names of faults; all stands for those that are drawn, and none, alone, for no fault.
func expand(words, drawn []string) ([]string, error) {
	if slices.Contains(words, "none") && len(words) > 1 {
		return nil, hint.Add(fmt.Errorf("--nemesis %s: none stands alone", strings.Join(words, ",")), "leave it out, or the others")
	}
	words = slices.Clone(words)
	if slices.Contains(words, "all") {
		words = append(words, drawn...)
		slices.Sort(words)
		words = slices.DeleteFunc(slices.Compact(words), func(w string) bool { return w == "all" })
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "none" }), nil
}

func show(cmd *cobra.Command, r *record.Run, asJSON bool) error {
	if asJSON {
		b, err := report.JSON(r)
		if err == nil {
			_, err = cmd.OutOrStdout().Write(b)
		}
		return err
	}
	file, ok := cmd.OutOrStdout().(*os.File)
	return report.Text(cmd.OutOrStdout(), r, ok && report.Colours(file))
}
