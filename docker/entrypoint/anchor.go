package entrypoint

import (
	"github.com/spf13/cobra"

	"recount/docker/agent"
)

// anchorCommand is what the container runs that owns a node's network.
func anchorCommand(fail func(error) error) *cobra.Command {
	return &cobra.Command{
		Use:    "anchor [FOLDER…]",
		Short:  "Hold a node's place in the network",
		Hidden: true,
		RunE: func(_ *cobra.Command, folders []string) error {
			if err := agent.Anchor(folders); err != nil {
				return fail(err)
			}
			return nil
		},
	}
}
