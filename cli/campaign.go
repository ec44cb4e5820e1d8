package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"recount/harness"
	"recount/harness/batch"
	"recount/harness/campaign"
	"recount/harness/campaign/store"
	"recount/harness/record"
	"recount/internal/count"
	"recount/internal/hint"
)

func init() { register(campaignCommand) }

func campaignCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "campaign",
		Short: "Make hunts of thousands of runs, and tell what is new since the last",
		Long: `Make hunts of thousands of runs, on this machine or on many, keep each finding once, and tell what is new since the last time.

A campaign is a YAML file: targets, faults, how many runs. It is cut into shards whose results depend on nothing else, so the
same file finds the same on one process and on fifty machines. What is made is kept in results/campaigns/<name>/.`,
		Example: `  recount campaign run nightly.yaml
  recount campaign show nightly
  recount campaign compare nightly@previous nightly`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := unknown("command of campaign")(cmd, args)
			if len(args) > 0 && slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(args[0])) {
				err = hint.Add(err, "recount campaign run %s", args[0])
			}
			return err
		},
	}
	cmd.AddCommand(campaignRunCommand(), campaignShowCommand(), campaignListCommand(), campaignCompareCommand(), campaignAttachCommand(),
		campaignStopCommand(), campaignWorkCommand())
	return cmd
}

// campaignFlags are those of a campaign that is run.
type campaignFlags struct {
	results, store string
	jobs           int
	form           formFlags
	cluster        clusterFlags
}

func campaignRunCommand() *cobra.Command {
	var given campaignFlags
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Make what is not made yet of a campaign",
		Long: `Make what is not made yet of a campaign, on all cores, with whoever else is at the same store.

Ctrl-C keeps what was done, and the same command goes on where it stopped. When all is made, each new kind of finding is shrunk,
and kept once.

With --on-cluster pods of Kubernetes make it: one Indexed Job, whose indexes are some minutes of runs each. Ctrl-C leaves the Job
to itself; recount campaign attach comes back to it, and recount campaign stop ends it.

Exit status: 0 all was made or the budget was spent, and nothing new was found; 1 a promise broke that was not known to; 2 it was
interrupted, or runs broke a property that is not known to in circumstances that were not shrunk, or did not start; 255 it failed.`,
		Example: `  recount campaign run nightly.yaml
  recount campaign run nightly.yaml --on-cluster --image registry/recount:1 --store s3://recount --dry-run
  recount campaign run nightly.yaml --store /mnt/shared/nightly
  recount campaign run nightly.yaml --store 's3://recount?endpoint=http://minio:9000'`,
		Args: one("campaign file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if given.jobs < 0 {
				return hint.Add(fmt.Errorf("--jobs %d: want more than none", given.jobs), "leave it out for one a core")
			}
			if err := given.form.check(); err != nil {
				return err
			}
			if err := given.cluster.check(cmd.Flags()); err != nil {
				return err
			}
			c, err := campaign.Load(args[0])
			if err != nil {
				return err
			}
			if given.cluster.asked() {
				return given.runOnCluster(cmd, args, c)
			}
			return given.run(cmd, args, c)
		},
	}
	f := cmd.Flags()
	f.StringVar(&given.results, "results", "results", "folder under which campaigns/<name> has all that was found")
	f.StringVar(&given.store, "store", "", "where shards' results are kept: a folder, or s3://bucket?endpoint=… (default: store, in the campaign's folder)")
	f.IntVar(&given.jobs, "jobs", 0, "chains of shards at a time (default: one a core, or one on containers)")
	given.form.register(f)
	given.cluster.register(f)
	return cmd
}

// open opens the store of a campaign, whose folder is dir.
func (g *campaignFlags) open(cmd *cobra.Command, dir string) (*store.Store, error) {
	return store.Open(cmd.Context(), cmp.Or(g.store, filepath.Join(dir, "store")))
}

func (g *campaignFlags) run(cmd *cobra.Command, args []string, c *campaign.Campaign) error {
	batch.SpareCollections()
	dir := filepath.Join(campaign.Folder(g.results), c.Name)
	st, err := g.open(cmd, dir)
	if err != nil {
		return failure{err}
	}
	defer st.Close()
	cfg := campaign.Config{Store: st, Folder: dir, Jobs: g.jobs, Command: commandLine(cmd, args), Commit: harness.Commit(), Copy: g.store != ""}
	for _, t := range c.Targets { // one place is enough for all engines
		if record.Repeats(t.On) || cfg.Make != nil {
			continue
		}
		scratch, err := harness.OpenScratch(t.On, g.results)
		if err != nil {
			return failure{err}
		}
		defer discard(cmd, scratch)
		cfg.Make = quietly(scratch)
	}
	return g.make(cmd, c, cfg)
}

// make makes what there is to be made of a campaign, and tells what it has come to.
func (g *campaignFlags) make(cmd *cobra.Command, c *campaign.Campaign, cfg campaign.Config) error {
	bar := newProgress(cmd)
	cfg.Progress = func(p campaign.Progress) { bar.tell(func() string { return campaignProgress(p, c.Budget) }) }
	s, failed := c.Run(bar.building(cmd.Context()), cfg)
	bar.end()
	if s == nil {
		return failure{failed}
	}
	err := g.form.print(cmd, s.Text, s.Markdown, s)
	announce(cmd, s.Markdown, s.Annotations())
	if err = errors.Join(failed, err); err != nil {
		return failure{err}
	}
	return verdict(s.Status)
}

// campaignProgress is one line about a campaign under way.
func campaignProgress(p campaign.Progress, budget time.Duration) string {
	rate := fmt.Sprintf("%.0f a second here", p.Rate)
	if p.Rate < 10 {
		rate = fmt.Sprintf("%.1f a second here", p.Rate)
	}
	shrinking := ""
	if p.Shrinking {
		shrinking = "shrinking what is new"
	}
	at := p.Progress
	at.Done += p.UnderWay
	return far(at, "run", budget, rate, count.Of(p.Findings, "finding"), shrinking)
}

// formFlags say in which form something is printed.
type formFlags struct{ json, markdown bool }

func (f *formFlags) register(flags interface {
	BoolVar(p *bool, name string, value bool, usage string)
}) {
	flags.BoolVar(&f.json, "json", false, "print it as one JSON object")
	flags.BoolVar(&f.markdown, "markdown", false, "print it as Markdown, for a page of a CI system")
}

func (f *formFlags) check() error {
	if f.json && f.markdown {
		return hint.Add(fmt.Errorf("--json and --markdown"), "take one of them")
	}
	return nil
}

func (f *formFlags) print(cmd *cobra.Command, text, markdown func(io.Writer) error, v any) error {
	switch w := cmd.OutOrStdout(); {
	case f.json:
		return json.NewEncoder(w).Encode(v)
	case f.markdown:
		return markdown(w)
	default:
		return text(w)
	}
}
