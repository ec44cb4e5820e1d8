package hashicorpraft

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/targets/systems/systemtest"
)

func TestHashicorpRaftObserve(t *testing.T) {
	s, torn, err := systemtest.Observe(t, "hashicorp-raft", nil, 7001, 200, `{"id":"n1","state":"Leader","term":4,"leader":"n1"}`)
	require.NoError(t, err)
	require.False(t, torn)
	require.Equal(t, election.Status{Role: election.Leader, Term: 4, Leader: 1}, s)
	_, torn, err = systemtest.Observe(t, "hashicorp-raft", nil, 7001, 200, `{"id":"n1","state":"Follower","term":4,"leader":"","torn":true}`)
	require.NoError(t, err)
	require.True(t, torn)
	for answer, want := range map[string]string{
		`{"id":"n2","state":"Leader","term":4,"leader":"n2"}`: `the answer is that of "n2"`,
		`{"id":"n1","state":"Shutdown","term":4}`:             `raft state "Shutdown" is none of those known`,
	} {
		_, _, err := systemtest.Observe(t, "hashicorp-raft", nil, 7001, 200, answer)
		require.ErrorContains(t, err, want)
	}
}

// Members print their own views among the lines of the library's log.
func TestHashicorpRaftLogs(t *testing.T) {
	systemtest.Announces(t, "hashicorp-raft", `{"id":"n1","state":"Candidate","term":4,"leader":""}`, &election.Status{Role: election.Candidate, Term: 4})
	for _, line := range []string{
		`{"id":"n2","state":"Leader","term":4,"leader":"n2"}`,
		`[INFO]  raft: entering leader state: leader="Node at 10.0.0.1:7000 [Leader]"`,
		`{"id":`,
	} {
		systemtest.Announces(t, "hashicorp-raft", line, nil)
	}
}

// The target refuses what there is no recipe for: 1.3.2 as well.
func TestHashicorpRaftRefuses(t *testing.T) {
	for _, version := range []string{"1.9.0", "1.3.2", "1.3.8", "2.0.0"} {
		systemtest.Refuses(t, "hashicorp-raft", "version", version, "known: all from 1.3.9 to 1.8")
	}
	systemtest.Refuses(t, "hashicorp-raft", "election-timeout", "500ms", "no shorter")
}

// Who was added is started as a member of its own.
func TestHashicorpRaftAdds(t *testing.T) {
	s := systemtest.Added(t, "hashicorp-raft", 3, 2)
	require.Contains(t, s, "--number=2")
	require.Contains(t, s, "--join=voter")
	require.Contains(t, s, "--id=n3")
}

// What a version does not give is not promised of it.
func TestHashicorpRaftPromises(t *testing.T) {
	old := map[string]string{"version": "1.6.1"}
	systemtest.Promises(t, "hashicorp-raft", nil, "sticky-leader", true)
	systemtest.Promises(t, "hashicorp-raft", map[string]string{"version": "1.8.0"}, "sticky-leader", true)
	systemtest.Promises(t, "hashicorp-raft", old, "sticky-leader", false)
	systemtest.Promises(t, "hashicorp-raft", old, "single-leader-per-term", true)
}
