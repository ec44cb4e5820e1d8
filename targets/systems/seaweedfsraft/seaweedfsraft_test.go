package seaweedfsraft

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/targets/systems/systemtest"
)

func TestSeaweedfsRaftObserve(t *testing.T) {
	s, torn, err := systemtest.Observe(t, "seaweedfs-raft", nil, 7001, 200, `{"id":"n1","state":"leader","term":0,"leader":"n1"}`)
	require.NoError(t, err)
	require.False(t, torn)
	require.Equal(t, election.Status{Role: election.Leader, Term: 1, Leader: 1}, s, "the leader that begins the cluster")
	_, torn, err = systemtest.Observe(t, "seaweedfs-raft", nil, 7001, 200, `{"id":"n1","state":"follower","term":4,"leader":"","torn":true}`)
	require.NoError(t, err)
	require.True(t, torn)
	for answer, want := range map[string]string{
		`{"id":"n2","state":"leader","term":4,"leader":"n2"}`: `the answer is that of "n2"`,
		`{"id":"n1","state":"stopped","term":4}`:              `raft state "stopped" is none of those known`,
	} {
		_, _, err := systemtest.Observe(t, "seaweedfs-raft", nil, 7001, 200, answer)
		require.ErrorContains(t, err, want)
	}
}

func TestSeaweedfsRaftRefuses(t *testing.T) {
	systemtest.Refuses(t, "seaweedfs-raft", "version", "1.1.2", "known: 1.1.3 and all of 1.2")
	systemtest.Refuses(t, "seaweedfs-raft", "election-timeout", "1s", "2s at least")
	systemtest.Refuses(t, "seaweedfs-raft", "heartbeat", "1500ms", "two heartbeats")
}

// What a version does not store is not promised of it.
func TestSeaweedfsRaftPromises(t *testing.T) {
	systemtest.Promises(t, "seaweedfs-raft", nil, "monotonic-term", true)
	systemtest.Promises(t, "seaweedfs-raft", map[string]string{"version": "1.1.3"}, "monotonic-term", false)
	systemtest.Promises(t, "seaweedfs-raft", map[string]string{"version": "1.1.3"}, "elects", true)
}
