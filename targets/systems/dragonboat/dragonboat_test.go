package dragonboat

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/targets/systems/systemtest"
)

func TestDragonboatObserve(t *testing.T) {
	s, _, err := systemtest.Observe(t, "dragonboat", nil, 7001, 200, `{"id":1,"term":4,"leader":1}`)
	require.NoError(t, err)
	require.Equal(t, election.Status{Role: election.Leader, Term: 4, Leader: 1}, s)
	s, _, err = systemtest.Observe(t, "dragonboat", nil, 7001, 200, `{"id":1,"term":4,"leader":0}`)
	require.NoError(t, err)
	require.Equal(t, election.Status{Term: 4}, s)
	for answer, want := range map[string]string{
		`{"id":2,"term":4,"leader":2}`: "the answer is that of n2",
		`{"id":1,"term":0,"leader":0}`: "raft has not started", // its term may be on disk: 0 would seem to go down
	} {
		_, _, err := systemtest.Observe(t, "dragonboat", nil, 7001, 200, answer)
		require.ErrorContains(t, err, want)
	}
}

// Members print their own views among the lines of the library's log.
func TestDragonboatLogs(t *testing.T) {
	systemtest.Announces(t, "dragonboat", `{"id":1,"term":2,"leader":3}`, &election.Status{Term: 2, Leader: 3})
	systemtest.Announces(t, "dragonboat", `{"id":1,"term":0,"leader":0}`, nil)
	systemtest.Announces(t, "dragonboat", `INFO | raft: [f:1,l:1,t:1,c:1,a:1] became leader`, nil)
}

func TestDragonboatRefuses(t *testing.T) {
	systemtest.Refuses(t, "dragonboat", "version", "4.0.0", "known: commits")
	systemtest.Refuses(t, "dragonboat", "version", "3.3.8", "known: commits")
	systemtest.Refuses(t, "dragonboat", "election-rtt", "2", "from 3 to 1000")
}

// What an option takes away is not promised.
func TestDragonboatPromises(t *testing.T) {
	systemtest.Promises(t, "dragonboat", nil, "sticky-leader", false)
	systemtest.Promises(t, "dragonboat", map[string]string{"pre-vote": "false"}, "bounded-terms", false)
	systemtest.Promises(t, "dragonboat", map[string]string{"check-quorum": "false"}, "elects", false)
}

// Who was added is started under an id that was never used.
func TestDragonboatAdds(t *testing.T) {
	s := systemtest.Added(t, "dragonboat", 3, 2)
	require.Contains(t, s, "--number=2")
	require.Contains(t, s, "--join=voter")
	require.Contains(t, s, "--id=3")
}
