package etcdraft

import (
	"testing"

	"recount/targets/systems/systemtest"
)

// What an option takes away is not promised.
func TestPromises(t *testing.T) {
	systemtest.Promises(t, "etcd-raft", map[string]string{"check-quorum": "false"}, "elects", false)
	systemtest.Promises(t, "etcd-raft", map[string]string{"pre-vote": "false"}, "elects", true)
}
