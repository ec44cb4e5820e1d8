package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"recount/docker"
	"recount/internal/count"
	"recount/virtual"
)

// diagnosis is what doctor finds, as --json prints it.
type diagnosis struct {
	Checks   []docker.Check       `json:"checks"`
	Measured []docker.Measurement `json:"measured,omitempty"`
}

func init() { register(doctorCommand) }

func doctorCommand() *cobra.Command {
	var try, measure, asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can run and which faults it can inject",
		Long: `Say what this machine can run and which faults it can inject. The simulator needs nothing; all of this is about containers.
With --try, a small cluster is made and each kind of fault is injected into it once. With --measure, faults of links and clocks
are, and a table shows side by side what was asked for and what was measured; it takes about a minute.`,
		Example: `  recount doctor --try
  recount doctor --measure`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := diagnosis{Checks: append(docker.Doctor(cmd.Context(), try, say(cmd)), leftInVirtualTime())}
			ill := 0
			for _, c := range d.Checks {
				if !c.OK {
					ill++
				}
			}
			var failed error
			if measure && ill == 0 {
				d.Measured, failed = docker.Measure(cmd.Context(), say(cmd))
			}
			for _, m := range d.Measured {
				if m.Why != "" {
					ill++
				}
			}
			write := writeDiagnosis
			if asJSON {
				write = func(w io.Writer, d diagnosis) error { return json.NewEncoder(w).Encode(d) }
			}
			if err := errors.Join(write(cmd.OutOrStdout(), d), failed); err != nil {
				return failure{err}
			}
			if ill > 0 {
				return failure{errors.New("this machine cannot run everything on containers")}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&try, "try", false, "make a small cluster and inject each kind of fault once")
	cmd.Flags().BoolVar(&measure, "measure", false, "make a small cluster and measure faults of links and clocks")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was found as one JSON object")
	return cmd
}

// leftInVirtualTime counts the nodes' files that killed runs have left. They take memory, and are in nobody's way.
func leftInVirtualTime() docker.Check {
	c := docker.Check{Name: "files in virtual time", Detail: "none left by killed runs"}
	dead, err := virtual.Left()
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	if c.OK = true; len(dead) > 0 {
		c.Detail, c.Hint = fmt.Sprintf("%s left nodes' files in %s", count.Of(len(dead), "killed run"), filepath.Dir(dead[0])), "recount clean removes them"
	}
	return c
}

func writeDiagnosis(to io.Writer, d diagnosis) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ok\tsimulator\tneeds nothing")
	for _, c := range d.Checks {
		mark := "ok"
		if !c.OK {
			mark = "no"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", mark, c.Name, c.Detail)
		if c.Hint != "" {
			fmt.Fprintf(w, "\t\thint: %s\n", c.Hint)
		}
	}
	if err := w.Flush(); err != nil || len(d.Measured) == 0 {
		return err
	}
	fmt.Fprintln(w, "\nfault\tasked\tmeasured")
	for _, m := range d.Measured {
		got := m.Measured
		if m.Why != "" {
			got = "not here: " + m.Why
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", m.Fault, m.Asked, got)
	}
	return w.Flush()
}
