package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"recount/harness"
	"recount/harness/batch"
	"recount/harness/claims"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/internal/whole"
)

func init() { register(measureCommand) }

func measureCommand() *cobra.Command {
	var (
		p              claims.Plan
		results, page  string
		quick, asJSON  bool
		experimentList []string
	)
	for _, e := range claims.All() {
		experimentList = append(experimentList, fmt.Sprintf("  %-20s %s", e.Name, e.Title))
	}
	cmd := &cobra.Command{
		Use:   "measure [EXPERIMENT…]",
		Short: "Measure what is said about elections, and set it beside what is claimed",
		Long: `Measure what is said about elections: make the experiments behind the claims of papers and handbooks, in simulation, and set
the numbers beside what is claimed. Where they disagree, the report says so. Tables and plots (SVG) go into a folder of their own.

The experiments, all of them by default:
` + strings.Join(experimentList, "\n") + `

The same seed finds the same. Ctrl-C stops and keeps what was measured by then.

Exit status: 0 measured, whatever came of it; 2 interrupted.`,
		Example: `  recount measure
  recount measure time-without-leader first-round
  recount measure --quick
  recount measure --page docs/measurements.md`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, e := range claims.All() {
				names = append(names, e.Name)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, names []string) error {
			var err error
			if p.Experiments, err = claims.Find(names); err != nil {
				return err
			}
			if p.Jobs < 1 {
				return hint.Add(fmt.Errorf("--jobs %d: nothing would be measured", p.Jobs), "take one or more")
			}
			if p.Effort = claims.Full; quick {
				p.Effort = claims.Quick
			}
			return makeMeasurements(cmd, p, results, page, asJSON, names)
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&p.Seed, "seed", 1, "decides all that is drawn")
	f.BoolVar(&quick, "quick", false, "make few trials of each kind: seconds, and numbers to match")
	f.IntVar(&p.Jobs, "jobs", runtime.GOMAXPROCS(0), "trials at a time")
	f.StringVar(&results, "results", "results", "folder under which the report gets its own")
	f.StringVar(&page, "page", "", "also write the Markdown page to this `file`, and its plots into a folder beside it")
	f.BoolVar(&asJSON, "json", false, "print the report as one JSON object")
	return cmd
}

func makeMeasurements(cmd *cobra.Command, p claims.Plan, results, page string, asJSON bool, names []string) error {
	batch.SpareCollections()
	dir, err := claims.MakeFolder(results)
	if err != nil {
		return failure{err}
	}
	bar := newProgress(cmd)
	r, err := claims.Measure(cmd.Context(), p, func(m batch.Progress) {
		bar.tell(func() string { return far(m, "trial", 0) })
	})
	bar.end()
	if err != nil {
		return failure{err}
	}
	r.Version, r.Command = harness.Version, commandLine(cmd, names)
	failed := claims.Write(r, dir)
	if page != "" {
		failed = errors.Join(failed, claims.WritePage(r, page))
	}
	out := cmd.OutOrStdout()
	if asJSON {
		err = whole.JSON(out, r)
	} else if err = claims.Text(out, r); err == nil {
		_, err = fmt.Fprintf(out, "\nreport: %s\nrepeat: %s\n", filepath.Join(dir, claims.PageFile), r.Command)
	}
	status := record.StatusHeld
	if r.Interrupted {
		status = record.StatusUnknown
	}
	return despite(cmd, status, errors.Join(failed, err))
}
