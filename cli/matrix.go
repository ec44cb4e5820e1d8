package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"recount/harness/batch"
	"recount/harness/matrix"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/internal/whole"
	"recount/report"
	"recount/workloads"
)

func init() { register(matrixCommand) }

func matrixCommand() *cobra.Command {
	var (
		elections, faults, names, sizes []string
		p                               matrix.Plan
		results                         string
		keep, asJSON                    bool
	)
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Measure what every election keeps under every fault",
		Long: `Measure what every election keeps under every fault and in every scenario, in virtual time, over many seeds on all cores. A table
says for each property whether it held, broke a promise, or is a known weakness, with the smallest seed that shows it.

An election is a target, or a target with options: raft, raft:vote-twice, raft:pre-vote=true:scale=2. The word all stands for
every target and for every foot-gun, targets and foot-guns for either alone. Among faults, none is a run without any and mixed one
with all of them. Ctrl-C stops and keeps what was found, with the pages of up to 20 runs that show the worst of it.

Exit status: 0 every promise held; 1 a promise broke; 2 unknown, or interrupted before one did.`,
		Example: `  recount matrix
  recount matrix --targets raft,raft-prevote --seeds 1000
  recount matrix --targets foot-guns --budget 60s
  recount matrix --targets raft:pre-vote=true --faults isolate,cut-link --scenarios none --json
  recount matrix --on virtual --targets etcd,hashicorp-raft:version=1.6.1 --faults isolate,pause --scenarios none`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if p.Rows, err = matrix.ParseRows(elections, p.On); err != nil {
				return err
			}
			if p.Columns, err = matrix.ParseColumns(faults, names); err != nil {
				return err
			}
			for _, s := range sizes {
				n, err := strconv.Atoi(s)
				if err != nil {
					return hint.Add(fmt.Errorf("--nodes %q is not a number", s), "--nodes 3,4,5")
				}
				p.Nodes = append(p.Nodes, n)
			}
			if p.Budget > 0 && !cmd.Flags().Changed("seeds") {
				p.Seeds = 0
			}
			if err := p.Check(); err != nil {
				return err
			}
			return measureMatrix(cmd, p, results, keep, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.On, "on", record.OnSim, "where the nodes run: sim (algorithms), or virtual (real Go servers in virtual time)")
	f.StringSliceVar(&elections, "targets", []string{matrix.AllRows}, "elections to measure: names (recount list targets), or spec files (recount init)")
	f.StringSliceVar(&faults, "faults", []string{matrix.AllColumns}, "faults to draw from, one at a time, or none, or mixed (recount list faults)")
	f.StringSliceVar(&names, "scenarios", []string{matrix.AllColumns}, "scenarios to go through, or none (recount list scenarios)")
	f.IntVar(&p.Seeds, "seeds", matrix.Seeds, "runs of each election under each fault, each with a seed of its own")
	f.Uint64Var(&p.First, "first", 1, "the first seed; to go on where an earlier matrix ended")
	f.StringSliceVar(&sizes, "nodes", words(matrix.Sizes), "sizes that clusters take in turn, where no scenario decides")
	f.DurationVar(&p.Time, "time", 0, "virtual time of a run, where no scenario decides (default: about a dozen faults)")
	f.StringSliceVar(&p.Workloads, "workload", workloads.Serving(""),
		"what clients do, where an election can and no scenario decides (recount list workloads)")
	f.DurationVar(&p.Budget, "budget", 0, "real time after which no more runs begin; without --seeds, go on until then")
	f.IntVar(&p.Jobs, "jobs", runtime.GOMAXPROCS(0), "runs at a time")
	f.BoolVar(&keep, "keep", true, "keep a run of every violation, for the page to link to")
	f.StringVar(&results, "results", "results", "folder under which the matrix gets its own")
	f.BoolVar(&asJSON, "json", false, "print the matrix as one JSON object")
	return cmd
}

func measureMatrix(cmd *cobra.Command, p matrix.Plan, results string, keep, asJSON bool) error {
	batch.SpareCollections()
	dir, err := matrix.MakeFolder(results)
	if err != nil {
		return failure{err}
	}
	bar := newProgress(cmd)
	notes := batch.NewNotes(dir, batch.Noted{Kind: "matrix", Name: "matrix", Command: commandLine(cmd, nil)})
	defer notes.End()
	tell := func(m batch.Progress) {
		bar.tell(func() string { return far(m, "run", p.Budget) })
		notes.Note(m, 0, 0)
	}
	back := processors(p.On, p.Jobs)
	t, err := matrix.Measure(bar.building(cmd.Context()), p, tell)
	back()
	bar.end()
	if err != nil {
		return failure{err}
	}
	t.Command = commandLine(cmd, nil)
	var failed error
	if keep {
		failed = keepRuns(cmd.Context(), p, t, dir, tell)
		bar.end()
	}
	failed = errors.Join(failed, matrix.Write(t, dir))
	out := cmd.OutOrStdout()
	if asJSON {
		err = whole.JSON(out, t)
	} else {
		file, ok := out.(*os.File)
		if err = matrix.Summarise(out, t, ok && report.Colours(file)); err == nil {
			_, err = fmt.Fprintf(out, "\nreport: %s\nrepeat: %s\n", filepath.Join(dir, matrix.PageFile), t.Command)
		}
	}
	return despite(cmd, t.Status(), errors.Join(failed, err))
}

// words writes numbers as a flag has them.
func words(numbers []int) (all []string) {
	for _, n := range numbers {
		all = append(all, strconv.Itoa(n))
	}
	return all
}

// keepRuns keeps a run of every violation; of a matrix that was interrupted a few, and soon, since somebody waits for it to
// end.
func keepRuns(ctx context.Context, p matrix.Plan, t *matrix.Table, dir string, tell func(batch.Progress)) error {
	if !t.Interrupted {
		return matrix.Keep(ctx, p, t, dir, 0, tell)
	}
	const most, within = 20, 5 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	return matrix.Keep(ctx, p, t, dir, most, tell)
}
