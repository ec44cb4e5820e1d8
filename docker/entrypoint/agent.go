package entrypoint

import (
	"os"

	"github.com/spf13/cobra"

	"recount/docker/agent"
)

// agentCommand is what the container of a run's agent runs. Nobody else has a use for it.
func agentCommand(fail func(error) error) *cobra.Command {
	return &cobra.Command{
		Use:    "agent",
		Short:  "Inject faults into containers, as the harness at the other end of stdin and stdout says",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := agent.Run(os.Stdin, os.Stdout); err != nil {
				return fail(err)
			}
			return nil
		},
	}
}
