package entrypoint

import (
	"github.com/spf13/cobra"

	"recount/docker/agent"
)

// releaseCommand is what the container runs that tidies up after an agent that was killed.
func releaseCommand(fail func(error) error) *cobra.Command {
	return &cobra.Command{
		Use:    "release FOLDER…",
		Short:  "Unmount disks that a killed agent has left mounted on volumes",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, folders []string) error {
			if err := agent.Release(folders); err != nil {
				return fail(err)
			}
			return nil
		},
	}
}
