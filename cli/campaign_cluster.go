package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"recount/harness"
	"recount/harness/campaign"
	"recount/harness/campaign/cluster"
	"recount/harness/campaign/store"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/internal/whole"
)

// clusterFlags are those of a campaign that pods make.
type clusterFlags struct {
	on, dry             bool
	job                 cluster.Job
	kubeconfig, context string
	inside              string
	indexRuns           int
}

// atCluster is what is kept of a campaign that a cluster makes, to come back to it.
type atCluster struct {
	Job        string `json:"job"`
	State      string `json:"state"` // asked, before the cluster has taken the Job, then made
	Namespace  string `json:"namespace"`
	Kubeconfig string `json:"kubeconfig,omitempty"`
	Context    string `json:"context,omitempty"` // which it was, also where no flag said so
	Host       string `json:"host,omitempty"`
	Store      string `json:"store"`
	Plan       string `json:"plan"`
}

// The states of a campaign at a cluster.
const (
	jobAsked = "asked"
	jobMade  = "made"
)

func (g *clusterFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&g.on, "on-cluster", false, "have pods of Kubernetes make it: docs/campaigns.md")
	f.BoolVar(&g.dry, "dry-run", false, "print the Job that the cluster would be asked for")
	f.StringVar(&g.job.Image, "image", "", "of the pods, made of this very executable")
	f.StringVar(&g.job.Namespace, "namespace", "", "of the Job (default: that of kubectl)")
	f.IntVar(&g.job.Parallelism, "parallelism", 8, "pods at once")
	f.IntVar(&g.job.Retries, "retries", 3, "of an index whose pod failed")
	f.IntVar(&g.indexRuns, "index-runs", 20_000, "runs of one index: some minutes' worth")
	f.StringVar(&g.job.CPU, "cpu", "1", "that a pod asks for")
	f.StringVar(&g.job.Memory, "memory", "1Gi", "that a pod asks for, and may use at most")
	f.StringToStringVar(&g.job.Nodes, "node-selector", nil, "a label of the nodes that may be used, `name=value`; may be given again")
	f.StringVar(&g.job.Secret, "secret", "", "whose keys are the pods' environment, such as AWS_ACCESS_KEY_ID (default: one is made of this shell's AWS_…)")
	f.StringVar(&g.job.PullPolicy, "pull", "IfNotPresent", "when the image is pulled: Always, IfNotPresent or Never")
	f.StringVar(&g.job.Account, "service-account", "", "of the pods, which ask the cluster for nothing")
	f.BoolVar(&g.job.HostNetwork, "host-network", false, "pods use their node's network, to reach the store")
	f.StringVar(&g.inside, "store-inside", "", "the store as pods reach it, if that is another address")
	f.StringVar(&g.kubeconfig, "kubeconfig", "", "which cluster, as for kubectl")
	f.StringVar(&g.context, "context", "", "which context of it")
}

// asked reports whether pods are to make the campaign, or to be told of.
func (g *clusterFlags) asked() bool { return g.on || g.dry }

// check finds a flag that says how pods are to make the campaign where none do.
func (g *clusterFlags) check(given *pflag.FlagSet) (err error) {
	if g.asked() {
		return nil
	}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(clusterFlags).register(own)
	given.Visit(func(f *pflag.Flag) {
		if err == nil && own.Lookup(f.Name) != nil && f.Name != "on-cluster" && f.Name != "dry-run" {
			err = hint.Add(fmt.Errorf("--%s without --on-cluster", f.Name), "recount campaign run FILE --on-cluster has pods make it")
		}
	})
	return err
}

// runOnCluster has pods make a campaign, and tells what came of it.
func (g *campaignFlags) runOnCluster(cmd *cobra.Command, args []string, c *campaign.Campaign) error {
	k := &g.cluster
	if !strings.Contains(g.store, "://") || strings.HasPrefix(g.store, "file://") {
		return hint.Add(errors.New("pods cannot reach a folder of this machine"), "--store 's3://bucket?endpoint=http://host:9000'")
	}
	for _, flag := range []struct {
		name string
		n    int
	}{{"parallelism", k.job.Parallelism}, {"index-runs", k.indexRuns}} {
		if flag.n < 1 {
			return hint.Add(fmt.Errorf("--%s %d: want more than none", flag.name, flag.n), "leave it out for the default")
		}
	}
	plan, err := c.Plan(k.indexRuns)
	if err != nil {
		return err
	}
	inside := k.inside
	if inside == "" {
		inside = g.store
	}
	j := k.job
	j.Name = "recount-" + label(c.Name) + "-" + plan.Edition[:8]
	j.Indexes = plan.Indexes
	j.Scratch = plan.Virtual()
	j.Args = []string{"campaign", "work", "--store", inside, "--plan", plan.Key()}
	secret := k.credentials(&j)
	manifest, err := j.Manifest()
	if err != nil {
		return err
	}
	if k.dry {
		text, err := yaml.Marshal(manifest)
		if err == nil {
			_, err = cmd.OutOrStdout().Write(text)
		}
		return err
	}
	st, err := store.Open(cmd.Context(), g.store)
	if err != nil {
		return failure{err}
	}
	defer st.Close()
	client, err := cluster.Dial(k.kubeconfig, k.context, j.Namespace)
	if err != nil {
		return failure{err}
	}
	dir := filepath.Join(campaign.Folder(g.results), c.Name)
	at := atCluster{j.Name, jobAsked, client.Namespace, k.kubeconfig, client.Context, client.Host, g.store, plan.Key()}
	if err := at.free(cmd.Context(), g.results, c.Name); err != nil {
		return err
	}
	if err := plan.Put(cmd.Context(), st, say(cmd)); err != nil {
		return failure{err}
	}
	if err := at.write(dir); err != nil { // before there is a Job: whatever ends this process, attach and stop find it
		return failure{err}
	}
	manifest.Namespace = client.Namespace
	if err := client.Create(cmd.Context(), manifest, secret); err != nil {
		return failure{err}
	}
	at.State = jobMade
	if err := at.write(dir); err != nil {
		return failure{err}
	}
	say(cmd)(fmt.Sprintf("Job %s in namespace %s: %d indexes, %d pods at once", j.Name, client.Namespace, j.Indexes, j.Parallelism))
	return g.follow(cmd, args, c, st, client, at)
}

// credentials are who to be to the store, as this shell has them, in a Secret beside the Job; nil if another is named.
func (g *clusterFlags) credentials(j *cluster.Job) *corev1.Secret {
	if j.Secret != "" {
		return nil
	}
	data := map[string]string{}
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION"} {
		if value := os.Getenv(name); value != "" {
			data[name] = value
		}
	}
	if len(data) == 0 {
		return nil
	}
	j.Secret = j.Name
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: j.Name, Labels: map[string]string{cluster.Label: j.Name}}, StringData: data,
	}
}

// label is a name as Kubernetes takes them.
func label(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String()[:min(b.Len(), 30)], "-")
}

func (a atCluster) write(dir string) error {
	text, err := json.MarshalIndent(a, "", "  ")
	if err == nil {
		err = whole.Write(filepath.Join(dir, campaign.ClusterFile), append(text, '\n'))
	}
	return err
}

// dial makes a client of the cluster that was asked, whichever kubectl speaks to by now.
func (a atCluster) dial() (*cluster.Client, error) {
	client, err := cluster.Dial(a.Kubeconfig, a.Context, a.Namespace)
	if err == nil && a.Host != "" && client.Host != a.Host {
		return nil, hint.Add(fmt.Errorf("context %q is the cluster at %s, and Job %s is at %s", client.Context, client.Host, a.Job, a.Host),
			"name the file that has it: KUBECONFIG=FILE")
	}
	return client, err
}

// free finds out whether another edition of the campaign is being made: nobody would find its Job again.
func (a atCluster) free(ctx context.Context, results, name string) error {
	old, err := readAtCluster(results, name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && old.Job == a.Job {
		return nil
	}
	var runs bool
	if err == nil {
		var client *cluster.Client
		if client, err = old.dial(); err == nil {
			runs, err = client.Runs(ctx, old.Job)
		}
	}
	switch file := filepath.Join(campaign.Folder(results), name, campaign.ClusterFile); {
	case err != nil:
		return failure{hint.Add(fmt.Errorf("does another edition of %s run? %w", name, err), "remove %s if none does", file)}
	case runs:
		return harness.Usage(hint.Add(fmt.Errorf("another edition of %s runs as Job %s", name, old.Job),
			"recount campaign attach %s waits for it, recount campaign stop %s ends it; a campaign of another name runs beside it", name, name))
	}
	return nil
}

// readAtCluster reads where a campaign is made; fs.ErrNotExist if nobody has asked a cluster to.
func readAtCluster(results, name string) (a atCluster, err error) {
	text, err := os.ReadFile(filepath.Join(campaign.Folder(results), name, campaign.ClusterFile))
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	return a, err
}

// follow waits for a Job, and then tells what the campaign has come to. Ctrl-C leaves the Job to itself.
func (g *campaignFlags) follow(cmd *cobra.Command, args []string, c *campaign.Campaign, st *store.Store, client *cluster.Client, at atCluster) error {
	bar := newProgress(cmd)
	o, err := client.Watch(cmd.Context(), at.Job, 2*time.Second, func(p cluster.Progress) {
		bar.tell(func() string {
			more := ""
			if p.Terminating > 0 {
				more = fmt.Sprintf(", %d terminating", p.Terminating)
			}
			if p.Trouble != "" {
				more += "; " + p.Trouble
			}
			return fmt.Sprintf("%s: %d of %d indexes done, %d failed, %d pods%s", c.Name, p.Done, p.Indexes, p.Failed, p.Active, more)
		})
	})
	bar.end()
	if cmd.Context().Err() != nil {
		say(cmd)(fmt.Sprintf("the Job goes on: recount campaign attach %s comes back to it, recount campaign stop %s ends it", c.Name, c.Name))
		return verdict(record.StatusUnknown)
	}
	if err != nil {
		return failure{err}
	}
	cfg := campaign.Config{Store: st, Folder: filepath.Join(campaign.Folder(g.results), c.Name), Command: commandLine(cmd, args), Commit: harness.Commit(), Collect: true, Copy: true}
	told := g.make(cmd, c, cfg)
	if len(o.Failed) > 0 {
		why := ""
		if o.Why != "" {
			why = "; " + o.Why
		}
		return failure{hint.Add(fmt.Errorf("%d of %d indexes failed again and again: %s%s", len(o.Failed), len(o.Failed)+len(o.Completed), numbers(o.Failed), why),
			"kubectl logs -n %s -l %s=%s tells why; after recount campaign stop %s the same command makes them anew", at.Namespace, cluster.Label, at.Job, c.Name)}
	}
	return told
}

func numbers(all []int) string {
	var words []string
	for _, n := range all {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ", ")
}

// campaignAt is the campaign that a cluster makes, by its name.
func (g *campaignFlags) campaignAt(ctx context.Context, name string) (at atCluster, st *store.Store, client *cluster.Client, err error) {
	if at, err = readAtCluster(g.results, name); errors.Is(err, fs.ErrNotExist) {
		err = harness.Usage(hint.Add(fmt.Errorf("no cluster makes campaign %q", name), "recount campaign run FILE --on-cluster has one make it"))
	}
	if err != nil {
		return at, nil, nil, err
	}
	if client, err = at.dial(); err == nil {
		st, err = store.Open(ctx, at.Store)
	}
	return at, st, client, err
}

func campaignAttachCommand() *cobra.Command {
	var given campaignFlags
	cmd := &cobra.Command{
		Use:   "attach NAME",
		Short: "Come back to a campaign that a cluster makes",
		Long: `Come back to a campaign that a cluster makes: wait for its Job, then shrink what is new, and tell what it has come to. Ctrl-C
leaves the Job to itself.

Exit status: as of recount campaign run.`,
		Example: "  recount campaign attach nightly",
		Args:    one("campaign"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := given.form.check(); err != nil {
				return err
			}
			at, st, client, err := given.campaignAt(cmd.Context(), args[0])
			if err != nil {
				return failure{err}
			}
			defer st.Close()
			plan, err := campaign.ReadPlan(cmd.Context(), st, at.Plan)
			if err != nil {
				return failure{err}
			}
			return given.follow(cmd, args, plan.Campaign, st, client, at)
		},
	}
	cmd.Flags().StringVar(&given.results, "results", "results", "folder that the campaigns lie under")
	given.form.register(cmd.Flags())
	return cmd
}

func campaignStopCommand() *cobra.Command {
	var given campaignFlags
	cmd := &cobra.Command{
		Use:   "stop NAME",
		Short: "End a campaign that a cluster makes",
		Long: `End a campaign that a cluster makes: its Job and its pods go. What they have made is in the store; to run the same command again
goes on.`,
		Example: "  recount campaign stop nightly",
		Args:    one("campaign"),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, st, client, err := given.campaignAt(cmd.Context(), args[0])
			if err != nil {
				return failure{err}
			}
			defer st.Close()
			there, err := client.Stop(cmd.Context(), at.Job)
			if err != nil {
				return failure{err}
			}
			what := fmt.Sprintf("Job %s is ended", at.Job)
			if !there {
				what = fmt.Sprintf("the cluster at %s has no Job %s in namespace %s", client.Host, at.Job, client.Namespace)
			}
			say(cmd)(fmt.Sprintf("%s; what was made is in %s", what, st.URL))
			return nil
		},
	}
	cmd.Flags().StringVar(&given.results, "results", "results", "folder that the campaigns lie under")
	return cmd
}

// campaignWorkCommand is what runs in pods.
func campaignWorkCommand() *cobra.Command {
	var (
		address, key string
		index        int
	)
	cmd := &cobra.Command{
		Use:    "work",
		Short:  "Make one index of a planned campaign: what pods do",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if text := os.Getenv("JOB_COMPLETION_INDEX"); index < 0 && text != "" {
				n, err := strconv.Atoi(text)
				if err != nil {
					return fmt.Errorf("JOB_COMPLETION_INDEX %q is no number", text)
				}
				index = n
			}
			st, err := store.Open(cmd.Context(), address)
			if err != nil {
				return failure{err}
			}
			defer st.Close()
			plan, err := campaign.ReadPlan(cmd.Context(), st, key)
			if err == nil {
				err = plan.Make(cmd.Context(), st, index, func(done, of int) { say(cmd)(fmt.Sprintf("index %d: %d of %d chains", index, done, of)) })
			}
			if err != nil {
				return failure{err}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&address, "store", "", "where the plan is, and results go")
	f.StringVar(&key, "plan", "", "its key in the store")
	f.IntVar(&index, "index", -1, "which part to make (default: $JOB_COMPLETION_INDEX)")
	return cmd
}
