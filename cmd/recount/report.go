package main

import (
	"github.com/spf13/cobra"

	"recount/harness"
	"recount/report"
)

func reportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "report RUN",
		Short: "Judge a stored run again and rewrite its reports",
		Long: `Judge a stored run again and rewrite its reports: report.html, report.txt, junit.xml and verdicts.json in the run's
folder. A run that was killed is judged as far as its history goes.`,
		Example: `  recount report results/latest`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := report.Read(args[0])
			if err != nil {
				return err
			}
			p, err := harness.PlanOf(r)
			if err != nil {
				return err
			}
			harness.Judge(cmd.Context(), r, p)
			if err := report.Write(r); err != nil {
				return failure{err}
			}
			if err := show(cmd, r, false); err != nil {
				return failure{err}
			}
			return verdict(r.Status)
		},
	}
}
