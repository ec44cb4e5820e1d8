package cli

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// The line that repeats a command gives pairs as they are taken, and in one order.
func TestPairsAreRepeatedAsTheyAreTaken(t *testing.T) {
	made := func() (*cobra.Command, *map[string]string) {
		cmd := &cobra.Command{Use: "recount"}
		return cmd, cmd.Flags().StringToString("node-selector", nil, "")
	}
	cmd, _ := made()
	require.NoError(t, cmd.ParseFlags([]string{"--node-selector", "disk=ssd,arch=amd64"}))
	require.Equal(t, "recount --node-selector arch=amd64 --node-selector disk=ssd", commandLine(cmd, nil))
	again, pairs := made()
	require.NoError(t, again.ParseFlags([]string{"--node-selector", "arch=amd64", "--node-selector", "disk=ssd"}))
	require.Equal(t, map[string]string{"arch": "amd64", "disk": "ssd"}, *pairs)
}
