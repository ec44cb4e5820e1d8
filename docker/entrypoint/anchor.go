package entrypoint

import (
	"github.com/spf13/cobra"

	"recount/docker/agent"
)

// anchorCommand is what the container runs that owns a node's network.
func anchorCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "anchor",
		Short:  "Hold a node's place in the network",
		Hidden: true,
		Args:   cobra.NoArgs,
		Run:    func(*cobra.Command, []string) { agent.Anchor() },
	}
}
