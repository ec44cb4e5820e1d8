package entrypoint

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"recount/docker/member"
)

// What the harness writes on the command line of a node is what the node reads there.
func TestNodeCommandLine(t *testing.T) {
	for _, c := range []member.Command{
		{
			Target: "raft", Options: map[string]string{"scale": "0.5", "heartbeat": "20ms"},
			ID: 2, Data: "/data", Own: "/own", Seed: 1<<64 - 1,
			Members:    []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::2")},
			WriteEvery: 10 * time.Millisecond, WriteGap: 20 * time.Millisecond,
		},
		{Target: "etcd", Beside: true, ID: 1, Data: "/elsewhere", Members: []netip.Addr{netip.MustParseAddr("10.0.0.1")}},
	} {
		args := c.Args()
		require.Equal(t, "node", args[0])
		got, err := parseNode(args[1:])
		require.NoError(t, err)
		require.Equal(t, &c, got)
	}
}

func TestNodeCommandLineMistakes(t *testing.T) {
	for want, args := range map[string]string{
		"--id 0: there are 1 members":                  "--target raft --members 10.0.0.1",
		"--id 2: there are 1 members":                  "--target raft --members 10.0.0.1 --id 2",
		`--members: ParseAddr("here")`:                 "--target raft --members here --id 1",
		"both --target and --beside are given":         "--target raft --beside etcd",
		`--opt "scale" is not name=value`:              "--target raft --members 10.0.0.1 --id 1 --opt scale",
		"--write-every -1s, --write-gap 0s: times are": "--target raft --members 10.0.0.1 --id 1 --write-every -1s",
	} {
		_, err := parseNode(strings.Fields(args))
		require.ErrorContains(t, err, want)
	}
}

func parseNode(args []string) (*member.Command, error) {
	var f nodeFlags
	fs := pflag.NewFlagSet("node", pflag.ContinueOnError)
	f.bind(fs)
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	return f.command()
}
