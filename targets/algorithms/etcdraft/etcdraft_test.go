package etcdraft

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/targets/systems/systemtest"
)

// What an option takes away is not promised.
func TestPromises(t *testing.T) {
	systemtest.Promises(t, "etcd-raft", map[string]string{"check-quorum": "false"}, "elects", false)
	systemtest.Promises(t, "etcd-raft", map[string]string{"pre-vote": "false"}, "elects", true)
}

// The version that people read is the one that is linked.
func TestVersionIsTheOneLinked(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	require.NoError(t, err)
	require.Contains(t, string(mod), "\tgo.etcd.io/raft/v3 v"+etcdRaftVersion+"\n")
}
