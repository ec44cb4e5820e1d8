package main

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"recount/docker"
)

func doctorCommand() *cobra.Command {
	var try bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can run and which faults it can inject",
		Long: `Say what this machine can run and which faults it can inject. The simulator needs nothing; all of this is about containers.
With --try, a small cluster is made and each fault is injected into it once.`,
		Example: `  recount doctor --try`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ok\tsimulator\tneeds nothing")
			ill := 0
			for _, c := range docker.Doctor(cmd.Context(), try, say(cmd)) {
				mark := "ok"
				if !c.OK {
					mark = "no"
					ill++
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", mark, c.Name, c.Detail)
				if c.Hint != "" {
					fmt.Fprintf(w, "\t\thint: %s\n", c.Hint)
				}
			}
			if err := w.Flush(); err != nil {
				return failure{err}
			}
			if ill > 0 {
				return failure{errors.New("this machine cannot run everything on containers")}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&try, "try", false, "make a small cluster and inject each fault once")
	return cmd
}
