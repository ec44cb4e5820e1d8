// Package entrypoint is what Recount's executable is inside of a container: a member of an election, the anchor that holds
// a node's place in the network, or the agent that injects faults. A program that makes runs on containers offers
// these commands, since its own executable is what the containers run.
package entrypoint

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"syscall"

	"github.com/spf13/cobra"

	"recount/docker"
)

// Commands returns the commands, all hidden. What they return for another reason than a wrong command line has gone
// through fail.
func Commands(fail func(error) error) []*cobra.Command {
	return []*cobra.Command{nodeCommand(fail), anchorCommand(fail), agentCommand(fail), releaseCommand(fail)}
}

// Main runs the command that the process was started for and returns its exit status, if the process is in a container
// that Recount has made; else it returns false at once. Targets must be registered before.
func Main(args []string, stderr io.Writer) (status int, ours bool) {
	if len(args) < 2 || args[0] != docker.SelfPath {
		return 0, false
	}
	root := &cobra.Command{Use: path.Base(docker.SelfPath), SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(Commands(func(err error) error { return err })...)
	root.SetArgs(args[1:])
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(stderr, "recount: %v\n", err)
		return 255, true
	}
	return 0, true
}
