package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"recount/checkers"
	"recount/election"
	"recount/harness"
	"recount/internal/hint"
	"recount/nemesis"
	"recount/scenarios"
	"recount/targets"
	"recount/workloads"
)

func init() { register(listCommand) }

func listCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List what Recount knows by name",
		Example: `  recount list targets`,
		RunE:    unknown("list"),
	}
	for _, l := range []struct {
		name, about string
		rows        func(w io.Writer, names []string) error
	}{
		{"faults", "what the nemesis can do, and to whom", listFaults},
		{"checkers", "the properties that are judged", listCheckers},
		{"workloads", "what clients do", listWorkloads},
		{"scenarios", "the experiments that have a name", listScenarios},
	} {
		cmd.AddCommand(&cobra.Command{
			Use:     l.name + " [NAME…]",
			Short:   "List " + l.about + ", or those that are named",
			Example: "  recount list " + l.name,
			RunE: func(cmd *cobra.Command, names []string) error {
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				if err := l.rows(w, names); err != nil {
					return err
				}
				return w.Flush()
			},
		})
	}
	cmd.AddCommand(listTargetsCommand())
	return cmd
}

func listTargetsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "targets [TARGET…]",
		Short: "List the elections that can be tested, or what some of them promise",
		Long: `List the elections that can be tested. Of those that are named, by a word or by the path of a spec file, list what they
promise, their options, and the times and numbers that they are judged by.`,
		Example: `  recount list targets
  recount list targets raft raft-prevote
  recount list targets mine.yaml`,
		RunE: func(cmd *cobra.Command, names []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, name := range names {
				t, err := targets.Find(name)
				if err != nil {
					return err
				}
				if err := describeTarget(w, t); err != nil {
					return failure{err}
				}
			}
			if len(names) == 0 {
				for _, t := range targets.All() {
					fmt.Fprintf(w, "%s\t%s\n", t.Name, t.About)
				}
			}
			return w.Flush()
		},
	}
}

// describeTarget prints a target, and the real one of which it is the model.
func describeTarget(w io.Writer, t *targets.Target) error {
	all := []*targets.Target{t}
	if t.Real != nil {
		all = append(all, t.Real)
	}
	for i, t := range all {
		if i > 0 {
			fmt.Fprintf(w, "%s, in containers\t%s\n", t.Name, t.About)
		} else {
			fmt.Fprintf(w, "%s\t%s\n", t.Name, t.About)
		}
		for _, p := range t.AllPromises() {
			while := ""
			if p.While != "" {
				while = "while " + p.While
			}
			fmt.Fprintf(w, "  promises %s\t%s\n", p.Property, while)
		}
		for _, o := range t.Options {
			fmt.Fprintf(w, "  --opt %s=%s\t%s\n", o.Name, o.Default, o.About)
		}
		o, err := t.Parse(nil)
		if err != nil {
			return err
		}
		if t.Can(election.Resign, o) {
			fmt.Fprintf(w, "  hands over\twhen it is asked to (fault hand-over, workload transfer)\n")
		}
		if t.Can(election.Reconfigure, o) {
			faults := "faults remove-member, replace-member"
			if !t.Learns(o) {
				faults = "fault remove-member"
			}
			fmt.Fprintf(w, "  changes members\twhen it is asked to (%s%s)\n", faults, onlySimulated(t))
		}
		for _, name := range t.Own {
			fmt.Fprintf(w, "  has a fault	%s (fault own, with: {name: %s})\n", name, name)
		}
		b := checkers.Thresholds(t.Bounds(o))
		fmt.Fprintf(w, "  judged by\tsilence=%v elect=%v poll=%v moves=%d returns=%d terms=%d (check --bound)\n",
			b.Silence, b.Elect, b.Poll, b.Moves, b.Returns, b.Terms)
	}
	return nil
}

// onlySimulated says where an algorithm's members can be changed.
func onlySimulated(t *targets.Target) string {
	if t.Node != nil {
		return "; in simulation"
	}
	return ""
}

// these are those of all that are asked for by their names, in that order; all where none is.
func these[T any](what string, all []T, name func(T) string, asked []string) (some []T, err error) {
	if len(asked) == 0 {
		return all, nil
	}
	var known []string
	for _, one := range all {
		known = append(known, name(one))
	}
	for _, word := range asked {
		at := slices.Index(known, word)
		if at < 0 {
			return nil, hint.Unknown(what, word, known)
		}
		some = append(some, all[at])
	}
	return some, nil
}

func listFaults(w io.Writer, names []string) error {
	all, err := these("fault", nemesis.All(), func(f *nemesis.Fault) string { return f.Name }, names)
	if err != nil {
		return err
	}
	for _, f := range all {
		fmt.Fprintf(w, "%s\t%s\n", f.Name, f.About)
		for _, a := range f.Aims {
			fmt.Fprintf(w, "  node\t%s (default %s)\n", a.What, cmp.Or(a.Default, "nobody in particular"))
		}
		for _, o := range f.Options {
			fmt.Fprintf(w, "  with %s=%s\t%s (%s)\n", o.Name, o.Default, o.About, o.Takes())
		}
	}
	if len(names) > 0 {
		return nil
	}
	fmt.Fprintln(w, "\ncues that a step may wait for (after: …)")
	for _, cue := range nemesis.Cues() {
		fmt.Fprintf(w, "  %s\t%s\n", cue[0], cue[1])
	}
	fmt.Fprintln(w, "\nwords for nodes, looked up when a fault fires")
	for _, word := range nemesis.Words() {
		fmt.Fprintf(w, "  %s\t%s\n", word[0], word[1])
	}
	return nil
}

func listCheckers(w io.Writer, names []string) error {
	all, err := these("property", checkers.All(), func(c checkers.Checker) string { return c.Property }, names)
	for _, c := range all {
		fmt.Fprintf(w, "%s\t%s\n", c.Property, c.Holds)
	}
	return err
}

func listWorkloads(w io.Writer, names []string) error {
	all, err := these("workload", workloads.All(), func(l *workloads.Workload) string { return l.Name }, names)
	for _, l := range all {
		fmt.Fprintf(w, "%s\t%s\n", l.Name, l.About)
	}
	return err
}

func listScenarios(w io.Writer, names []string) error {
	all, err := these("scenario", scenarios.Names(), func(name string) string { return name }, names)
	if err != nil {
		return err
	}
	for _, name := range all {
		s, err := harness.LoadScenario(name)
		if err != nil {
			return failure{err}
		}
		fmt.Fprintf(w, "%s\t%s\n", name, s.About)
	}
	return nil
}
