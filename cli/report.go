package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"recount/harness"
	"recount/harness/record"
	"recount/report"
)

func init() { register(reportCommand) }

func reportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "report RUN",
		Short: "Judge a stored run again and rewrite its reports",
		Long: `Judge a stored run again and rewrite its reports: report.html, report.txt, junit.xml and verdicts.json in the run's
folder. RUN is that folder, or a file in it. A run that was killed is judged as far as its history goes.`,
		Example: `  recount report results/latest`,
		Args:    one("run's folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := record.Read(folderOf(args[0]))
			if err != nil {
				return err
			}
			harness.Judge(cmd.Context(), r)
			if err := cmd.Context().Err(); err != nil {
				return fmt.Errorf("judging %s: %w", args[0], err)
			}
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

// folderOf returns a run's folder, by itself or by one of its files.
func folderOf(path string) string {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return filepath.Dir(path)
	}
	return path
}
