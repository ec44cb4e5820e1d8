package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"recount/harness/record"
	"recount/harness/suite"
	"recount/internal/hint"
	"recount/report"
)

// suiteFlags are those of run that go with --suite.
var suiteFlags = []string{"suite", "shard", "jobs", "results", "json"}

// runSuite makes all runs of a suite file.
func (g *runFlags) runSuite(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return hint.Add(fmt.Errorf("scenario %q does not go with --suite", args[0]), "the suite's file lists its scenarios")
	}
	var odd error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if odd == nil && !slices.Contains(suiteFlags, f.Name) {
			odd = hint.Add(fmt.Errorf("--%s does not go with --suite", f.Name), "the suite's file says it; with it go --%s",
				strings.Join(suiteFlags[1:], ", --"))
		}
	})
	if odd != nil {
		return odd
	}
	cfg := suite.Config{Results: g.results, Jobs: g.jobs, Say: say(cmd), Now: time.Now()}
	var err error
	if cmd.Flags().Changed("shard") {
		if cfg.Shard, err = suite.ParseShard(g.shard); err != nil {
			return err
		}
	}
	if g.jobs < 0 {
		return hint.Add(fmt.Errorf("--jobs %d: want more than none", g.jobs), "leave it out for one a core")
	}
	s, err := suite.Load(g.suite)
	if err != nil {
		return err
	}
	bar := newProgress(cmd)
	cfg.Progress = func(p suite.Progress) {
		bar.tell(func() string {
			return far(p.Progress, "run", s.Budget.Duration, fmt.Sprintf("%d broken", p.Broken), "the last "+p.Last)
		})
	}
	o, failed := s.Make(bar.building(cmd.Context()), cfg)
	bar.end()
	if o == nil {
		return failure{failed}
	}
	if g.asJSON {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(o)
	} else {
		err = o.Text(cmd.OutOrStdout())
	}
	announce(cmd, o.Markdown, o.Annotations())
	return despite(cmd, o.Status, errors.Join(failed, err))
}

// announceRun is announce for a single run.
func announceRun(cmd *cobra.Command, r *record.Run) {
	announce(cmd, func(w io.Writer) error { return report.Markdown(w, r) }, report.Annotations(r))
}

// announce tells the CI system that this runs in, if it does, what came of it: in the file for summaries that GitHub
// names, and by annotations, which it reads from what a step prints. That the file cannot be written is told, and changes no status.
func announce(cmd *cobra.Command, markdown func(io.Writer) error, annotations []report.Annotation) {
	if underGitHub() {
		for _, a := range annotations {
			fmt.Fprintln(untamed(cmd.ErrOrStderr()), a) // stdout is for results
		}
	}
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err == nil {
		err = errors.Join(markdown(f), f.Close())
	}
	if err != nil {
		complain(cmd.ErrOrStderr(), hint.Add(fmt.Errorf("summary: %w", err), "GITHUB_STEP_SUMMARY names a file to write it to; the status is that of the runs"))
	}
}
