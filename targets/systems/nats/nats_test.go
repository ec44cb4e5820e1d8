package nats

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/targets"
	"recount/targets/systems/systemtest"
)

// The raft ids of servers named n1 and n2, as their own logs have them.
const natsN1, natsN2 = "fjFyEjc1", "44jzkV9D"

func TestNatsObserve(t *testing.T) {
	group := func(id, state, leader, vote string) string {
		return fmt.Sprintf(`{"$SYS": {"_meta_": {"id": %q, "state": %q, "leader": %q, "term": 3, "voted_for": %q}}}`, id, state, leader, vote)
	}
	for name, c := range map[string]struct {
		answer string
		want   election.Status
		torn   bool
	}{
		"leader":    {group(natsN1, "LEADER", natsN1, natsN1), election.Status{Role: election.Leader, Term: 3, Leader: 1}, false},
		"follower":  {group(natsN1, "FOLLOWER", natsN2, natsN2), election.Status{Term: 3, Leader: 2}, false},
		"candidate": {group(natsN1, "CANDIDATE", "", natsN1), election.Status{Role: election.Candidate, Term: 3}, false},
		// A leader of an earlier term that has learned of this one and is about to step down.
		"not its own term": {group(natsN1, "LEADER", natsN1, ""), election.Status{Role: election.Leader, Term: 3, Leader: 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, torn, err := systemtest.Observe(t, "nats", nil, 8222, 200, c.answer)
			require.NoError(t, err)
			require.Equal(t, c.want, s)
			require.Equal(t, c.torn, torn)
		})
	}
	for name, c := range map[string]struct {
		code         int
		answer, want string
	}{
		"starting":       {404, "No Raft nodes registered", "404 Not Found"},
		"no meta group":  {200, `{"$SYS": {}}`, "the meta group has not started"},
		"somebody else":  {200, group(natsN2, "LEADER", natsN2, natsN2), "the answer is that of raft id"},
		"unknown state":  {200, group(natsN1, "CLOSED", "", ""), `raft state "CLOSED" is none of those known`},
		"unknown leader": {200, group(natsN1, "FOLLOWER", "stranger", ""), `raft id "stranger" is none of the members'`},
		"not JSON":       {200, "raft", "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, err := systemtest.Observe(t, "nats", nil, 8222, c.code, c.answer)
			require.ErrorContains(t, err, "nats: observe n1: ")
			require.ErrorContains(t, err, c.want)
			require.Zero(t, s)
		})
	}
}

// 2.9 has no /raftz, and tells no terms.
func TestNatsObserveBefore210(t *testing.T) {
	old := map[string]string{"version": "2.9.25"}
	for answer, want := range map[string]election.Status{
		`{"meta_cluster": {"leader": "n1"}}`: {Role: election.Leader, Leader: 1},
		`{"meta_cluster": {"leader": "n3"}}`: {Leader: 3},
		`{"meta_cluster": {}}`:               {},
	} {
		s, torn, err := systemtest.Observe(t, "nats", old, 8222, 200, answer)
		require.NoError(t, err)
		require.False(t, torn)
		require.Equal(t, want, s)
	}
	target, err := targets.Find("nats")
	require.NoError(t, err)
	for version, numbered := range map[string]bool{"2.9.25": false, "2.10.20": true} {
		o, err := target.Parse(map[string]string{"version": version})
		require.NoError(t, err)
		require.Equal(t, numbered, target.Numbered(o))
	}
	_, _, err = systemtest.Observe(t, "nats", old, 8222, 200, `{}`)
	require.ErrorContains(t, err, "the meta group has not started")
}

func TestNatsContainer(t *testing.T) {
	all := systemtest.Members()
	c := systemtest.System(t, "nats", nil).Container(all[0], all)
	require.Contains(t, c.Command, "--routes=nats://10.77.0.12:6222,nats://10.77.0.13:6222")
	require.Contains(t, c.Command, "--name=n1")
	require.Contains(t, c.Command, "--cluster=nats://0.0.0.0:6222")
}

func TestNatsRefuses(t *testing.T) {
	systemtest.Refuses(t, "nats", "version", "2.8.4", "known: all from 2.9.0 on")
	systemtest.Refuses(t, "nats", "version", "2.10", "known: ")
}

// What a version does not give is not promised of it.
func TestNatsPromises(t *testing.T) {
	systemtest.Promises(t, "nats", nil, "single-leader-per-term", true)
	systemtest.Promises(t, "nats", map[string]string{"version": "2.10.27"}, "monotonic-term", true)
	systemtest.Promises(t, "nats", map[string]string{"version": "2.10.20"}, "monotonic-term", false)
	systemtest.Promises(t, "nats", nil, "sticky-leader", false)
}
