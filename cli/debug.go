package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"recount/harness"
	"recount/harness/record"
	"recount/harness/shrink"
	"recount/history"
	"recount/internal/count"
	"recount/internal/hint"
	"recount/virtual"
)

// debugging is what the command line says of a run that is looked into.
type debugging struct {
	at    time.Duration
	nodes []string
	hold  bool
}

func init() { register(debugCommand) }

func debugCommand() *cobra.Command {
	var d debugging
	cmd := &cobra.Command{
		Use:   "debug RUN",
		Short: "Make a stored run in virtual time again, stop it at a moment, and show what its servers are at",
		Long: `Make a stored run in virtual time again, stop it at a moment, and show what its servers are at: the stacks of all their goroutines.
RUN is a run's folder. The moment is that at which its promise broke, or --at: the stories and reports of runs tell times.

--hold has time stand still there instead, for as long as you like, and tells the process of each node for a debugger to attach to.
Enter lets time go on. As long as a debugger has stopped a node, no time passes for any: breakpoints break no election.`,
		Example: `  recount debug results/latest
  recount debug results/latest --at 2.478s --node n2
  recount debug results/latest --at 2.478s --hold`,
		Args: one("run's folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("at") && d.at <= 0 {
				return hint.Add(fmt.Errorf("--at %v: a moment is after the run's begin", d.at), "--at 2.478s")
			}
			again, err := openReplay(cmd, nil, args[0], record.Plan{})
			if err != nil {
				return err
			}
			if err := d.choose(cmd, again); err != nil {
				return err
			}
			defer processors(again.Plan.On, 1)()
			look := d.stacks
			if d.hold {
				look = d.held
			}
			ctx := harness.Building(cmd.Context(), say(cmd))
			made, err := harness.Look(ctx, again.Plan, d.at, func(c *virtual.Cluster) error { return look(cmd, c) })
			switch {
			case errors.Is(err, errSeen):
				return nil
			case err != nil:
				return failure{err}
			}
			say(cmd)(fmt.Sprintf("the run has come to its end, %v", made.Frame().Last.Round(time.Millisecond)))
			if err := again.compare(cmd, made); err != nil {
				return failure{err}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.DurationVar(&d.at, "at", 0, "the moment, as time of the run (default: when its promise broke)")
	f.StringSliceVar(&d.nodes, "node", nil, "show these nodes alone")
	f.BoolVar(&d.hold, "hold", false, "have time stand still there until Enter, for a debugger")
	return cmd
}

// errSeen ends a run of which all was shown that was to be.
var errSeen = errors.New("all was shown")

// choose works out at which moment of a stored run it is looked into, and refuses what cannot be looked at.
func (d *debugging) choose(cmd *cobra.Command, again *replay) error {
	stored := again.stored
	if on := again.Plan.On; on != record.OnVirtual {
		return hint.Add(fmt.Errorf("%s: a run on %s has no processes that stand still", stored.Title, on), "recount run --on virtual makes one that has, of a server in Go")
	}
	for _, n := range d.nodes {
		if names := stored.Setup().Nodes; !slices.Contains(names, n) {
			return hint.Unknown("node", n, names)
		}
	}
	if d.at > 0 {
		return nil
	}
	v := stored.Verdict(shrink.Broken(stored))
	if v == nil {
		return hint.Add(fmt.Errorf("%s broke nothing: at which moment is it to be looked at?", stored.Title), "--at 2.478s")
	}
	d.at = v.To
	say(cmd)(fmt.Sprintf("%s broke by %v: %s", v.Property, d.at, v.Why))
	return nil
}

// shown are the processes of the nodes that are to be shown.
func (d *debugging) shown(c *virtual.Cluster) (all []virtual.Process, err error) {
	for _, p := range c.Processes() {
		if len(d.nodes) == 0 || slices.Contains(d.nodes, p.Node) {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil, harness.Usage(hint.Add(fmt.Errorf("no process of %s runs at %v", cmp.Or(strings.Join(d.nodes, ", "), "any node"), c.Now()), "look at another moment, --at"))
	}
	return all, nil
}

// stacks prints what goroutines are at, and ends the run.
func (d *debugging) stacks(cmd *cobra.Command, c *virtual.Cluster) error {
	all, err := d.shown(c)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	for _, p := range all {
		some, err := p.Quit()
		if err != nil {
			return err
		}
		n := 0
		for _, g := range some {
			n += len(g.IDs)
		}
		fmt.Fprintf(out, "%s, %v into the run: %s\n\n", described(p), c.Now(), count.Of(n, "goroutine"))
		for _, g := range some {
			fmt.Fprintf(out, "goroutine %s [%s]:\n%s\n", strings.Join(g.IDs, ", "), g.State, g.Stack)
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return errSeen
}

// held tells of processes, and waits until it is told to go on.
func (d *debugging) held(cmd *cobra.Command, c *virtual.Cluster) error {
	all, err := d.shown(c)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "time stands still, %v into the run\n\n", c.Now())
	for _, p := range all {
		fmt.Fprintf(out, "  %s: dlv attach %d %s\n", described(p), p.PID, record.Quote(p.Path))
	}
	fmt.Fprint(out, "\nEnter lets time go on.\n")
	return answered(cmd.Context(), cmd.InOrStdin())
}

// answered waits for a line.
func answered(ctx context.Context, in io.Reader) error {
	line := make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(in).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = harness.Usage(hint.Add(errors.New("--hold waits for Enter, and there is no terminal to press it on"), "run it in one, or leave out --hold"))
		}
		line <- err
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-line:
		return err
	}
}

// described is a process in words.
func described(p virtual.Process) string {
	what := fmt.Sprintf("%s, %s", p.Which, filepath.Base(p.Path))
	if p.State != history.Up {
		what += fmt.Sprintf(" (%s)", p.State)
	}
	return what
}
