package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"recount/docker"
	"recount/internal/count"
	"recount/virtual"
)

func init() { register(cleanCommand) }

func cleanCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove containers, networks, volumes and files that killed runs left behind",
		Long: `Remove containers, networks and volumes that killed runs left behind, and the files of nodes in virtual time. Runs that are alive
are left alone, unless --all is given. Where there is no engine it is said, and what else was left is removed. Recount's images are kept: they are caches.`,
		Example: `  recount clean`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			told := 0
			tell := func(removed []string) {
				for _, name := range removed {
					fmt.Fprintln(cmd.OutOrStdout(), name)
				}
				told += len(removed)
			}
			folders, failed := virtual.Clean(all)
			tell(folders)
			e, err := docker.Connect(cmd.Context())
			switch {
			case docker.Absent(err):
				say(cmd)("there is no Docker engine to clean: " + err.Error())
			case err != nil:
				failed = errors.Join(failed, err)
			default:
				defer e.Close()
				removed, err := e.Clean(cmd.Context(), all)
				tell(removed)
				failed = errors.Join(failed, err)
			}
			if failed != nil {
				return failure{failed}
			}
			say(cmd)(count.Of(told, "thing") + " removed")
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "remove runs that are alive as well")
	return cmd
}
