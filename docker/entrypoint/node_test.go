package entrypoint

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/docker/member"
)

// What the harness gives a node as its plan is what the node reads.
func TestNodePlan(t *testing.T) {
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
		require.Len(t, args, 2)
		got, err := member.ParseCommand(args[1])
		require.NoError(t, err)
		require.Equal(t, &c, got)
	}
}

func TestNodePlanMistakes(t *testing.T) {
	for want, plan := range map[string]string{
		"id 0: there are 1 members":                `{"target":"raft","members":["10.0.0.1"]}`,
		"id 2: there are 1 members":                `{"target":"raft","members":["10.0.0.1"],"id":2}`,
		`ParseAddr("here")`:                        `{"target":"raft","members":["here"],"id":1}`,
		`unknown field "opt"`:                      `{"target":"raft","opt":{}}`,
		"unexpected EOF":                           `{"target":"raft"`,
		"write-every -1s, write-gap 0s: times are": `{"target":"raft","members":["10.0.0.1"],"id":1,"write-every":-1000000000}`,
		"no data folder":                           `{"target":"raft","members":["10.0.0.1"],"id":1}`,
	} {
		_, err := member.ParseCommand(plan)
		require.ErrorContains(t, err, want)
	}
}
