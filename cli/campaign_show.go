package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"recount/harness/campaign"
	"recount/internal/count"
)

func campaignShowCommand() *cobra.Command {
	var (
		results string
		form    formFlags
	)
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Tell what a campaign has come to",
		Long: `Tell what a campaign has come to: its findings, each with its rate and the command that repeats it, and how much was looked at.
NAME is a campaign's, or a path to its folder; behind an @ follows an edition, by the beginning of its hash, or "previous".

Exit status: that of the campaign.`,
		Example: `  recount campaign show nightly
  recount campaign show nightly@previous --markdown`,
		Args: one("campaign"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := form.check(); err != nil {
				return err
			}
			s, err := campaign.Find(results, args[0])
			if err == nil {
				err = form.print(cmd, s.Text, s.Markdown, s)
			}
			if err != nil {
				return failure{err}
			}
			return verdict(s.Status)
		},
	}
	cmd.Flags().StringVar(&results, "results", "results", "folder that the campaigns lie under")
	form.register(cmd.Flags())
	return cmd
}

func campaignListCommand() *cobra.Command {
	var (
		results string
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the campaigns that there are",
		Long:    "List the campaigns that there are, each with its latest edition.",
		Example: "  recount campaign list",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := campaign.List(results)
			if err != nil {
				return failure{err}
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(all)
			}
			var b strings.Builder
			if len(all) == 0 {
				fmt.Fprintf(&b, "no campaign in %s\n", campaign.Folder(results))
			}
			for _, s := range all {
				fmt.Fprintf(&b, "%-20s %-8s %s  %s in %v  %s\n", s.Name, s.State, s.Started.Format("2006-01-02 15:04"), count.Of(s.Runs, "run"),
					s.Took.Round(time.Second), s.Sentence())
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), b.String())
			return err
		},
	}
	cmd.Flags().StringVar(&results, "results", "results", "folder that the campaigns lie under")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print them as one JSON list")
	return cmd
}

func campaignCompareCommand() *cobra.Command {
	var (
		results string
		form    formFlags
	)
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Tell what a campaign found that another did not",
		Long: `Tell what a campaign found that another did not, what both found, and what was not found again, with rates and the bounds between
which they lie with 95 % confidence. A and B are two campaigns, or two editions of one: see recount campaign show.

Exit status: 0 B found nothing that A did not; 1 it did, and it is not known in its file.`,
		Example: `  recount campaign compare nightly@previous nightly
  recount campaign compare main branch --markdown`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := form.check(); err != nil {
				return err
			}
			var both [2]*campaign.Summary
			for i, name := range args {
				var err error
				if both[i], err = campaign.Find(results, name); err != nil {
					return failure{err}
				}
			}
			c := campaign.Compare(both[0], both[1])
			if err := form.print(cmd, c.Text, c.Markdown, c); err != nil {
				return failure{err}
			}
			return verdict(c.Status)
		},
	}
	cmd.Flags().StringVar(&results, "results", "results", "folder that the campaigns lie under")
	form.register(cmd.Flags())
	return cmd
}
