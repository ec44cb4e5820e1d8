package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"recount/harness"
	"recount/hint"
	"recount/history"
	"recount/report"
)

func checkCommand() *cobra.Command {
	var cut, asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE…",
		Short: "Judge stored histories again; no cluster is needed",
		Long: `Judge stored histories again; no cluster is needed. Each file is a history.jsonl. What its target promises and what its
run expected is known from the history and from the run.json beside it. The exit status is the worst of all files.`,
		Example: `  recount check results/latest/history.jsonl`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			worst := harness.StatusHeld
			for _, path := range args {
				r, p, err := load(path, cut)
				if err != nil {
					return err
				}
				harness.Judge(cmd.Context(), r, p)
				if err := show(cmd, r, asJSON); err != nil {
					return failure{err}
				}
				if r.Status != harness.StatusHeld && worst != harness.StatusBroken {
					worst = r.Status
				}
			}
			return verdict(worst)
		},
	}
	cmd.Flags().BoolVar(&cut, "cut", false, "judge what comes before the place where a history was cut off")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the verdicts as JSON objects, one a file")
	return cmd
}

// load reads a history, and the run that it belongs to if its folder holds one.
func load(path string, cut bool) (*report.Run, harness.Plan, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, harness.Plan{}, err
	}
	defer f.Close()
	h, err := history.Parse(f)
	if errors.Is(err, history.ErrCut) {
		if !cut {
			return nil, harness.Plan{}, hint.Add(fmt.Errorf("%s: %w", path, err),
				"the run was killed while it wrote; --cut judges what comes before")
		}
		h, err = history.New(h.Ops)
	}
	if err != nil {
		return nil, harness.Plan{}, fmt.Errorf("%s: %w", path, err)
	}
	r := &report.Run{Title: path, History: h}
	if s := h.Setup(); s != nil {
		r.Target, r.Cluster, r.Options, r.Seed, r.Nodes = s.Target, s.Cluster, s.Options, s.Seed, s.Nodes
	}
	stored, err := report.Read(filepath.Dir(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, harness.Plan{}, nil
	case err != nil:
		return nil, harness.Plan{}, err
	}
	r.Repeat = stored.Repeat
	p, err := harness.PlanOf(stored)
	return r, p, err
}
