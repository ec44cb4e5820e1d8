package etcdraftserver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/targets/systems/systemtest"
)

func TestEtcdRaftServerObserve(t *testing.T) {
	s, _, err := systemtest.Observe(t, "etcd-raft-server", nil, 7001, 200, `{"id":"n1","state":"StateLeader","term":4,"leader":"n1"}`)
	require.NoError(t, err)
	require.Equal(t, election.Status{Role: election.Leader, Term: 4, Leader: 1}, s)
	for answer, want := range map[string]string{
		`{"id":"n2","state":"StateLeader","term":4,"leader":"n2"}`: `the answer is that of "n2"`,
		`{"id":"n1","state":"Leader","term":4}`:                    `raft state "Leader" is none of those known`,
	} {
		_, _, err := systemtest.Observe(t, "etcd-raft-server", nil, 7001, 200, answer)
		require.ErrorContains(t, err, want)
	}
}

// Members print their own views among the lines of the library's log.
func TestEtcdRaftServerLogs(t *testing.T) {
	systemtest.Announces(t, "etcd-raft-server", `{"id":"n1","state":"StatePreCandidate","term":4,"leader":"n2"}`,
		&election.Status{Role: election.Candidate, Term: 4, Leader: 2})
	systemtest.Announces(t, "etcd-raft-server", `raft2025/01/01 00:00:31 INFO: 1 became leader at term 4`, nil)
}

func TestEtcdRaftServerRefuses(t *testing.T) {
	systemtest.Refuses(t, "etcd-raft-server", "version", "3.4.0", "known: all of 3.1")
	systemtest.Refuses(t, "etcd-raft-server", "election-ticks", "1", "from 2 to 1000")
}

// What an option or a version takes away is not promised.
func TestEtcdRaftServerPromises(t *testing.T) {
	systemtest.Promises(t, "etcd-raft-server", nil, "elects", true)
	systemtest.Promises(t, "etcd-raft-server", map[string]string{"version": "3.5.0"}, "elects", false)
	systemtest.Promises(t, "etcd-raft-server", map[string]string{"pre-vote": "false"}, "bounded-terms", false)
}

// Who was added is started under an id that was never used.
func TestEtcdRaftServerAdds(t *testing.T) {
	s := systemtest.Added(t, "etcd-raft-server", 3, 2)
	require.Contains(t, s, "--number=2")
	require.Contains(t, s, "--id=3")
}

func TestEtcdRaftServerHadNoLearners(t *testing.T) {
	for version, none := range map[string]bool{"3.2.0": true, "3.6.0": false} {
		y := systemtest.System(t, "etcd-raft-server", map[string]string{"version": version}).(election.Learnerless)
		require.Equal(t, none, y.Learnerless(), version)
	}
}
