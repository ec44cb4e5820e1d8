package zookeeper

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/targets"
)

// A new leader that shows the last transaction of an epoch that another led must not be taken for a second leader of it.
func TestZooKeeperClaimsAnEpochOnlyIfItsLogDoes(t *testing.T) {
	target, err := targets.Find("zookeeper")
	require.NoError(t, err)
	o, err := target.Parse(nil)
	require.NoError(t, err)
	driver, err := target.System(o)
	require.NoError(t, err)
	s := driver.(*system)
	s.meet([]election.Member{{ID: 1, Addr: netip.MustParseAddr("10.0.0.1")}, {ID: 2, Addr: netip.MustParseAddr("10.0.0.2")}})

	srvr := func(self election.ID, mode, zxid string) (election.Status, bool, bool) {
		status, torn, alone, err := s.read(self, fmt.Sprintf("Zookeeper version: 3.8.0\nZxid: 0x%s\nMode: %s\nNode count: 5\n", zxid, mode))
		require.NoError(t, err)
		return status, torn, alone
	}
	quorum := "12:00:00.000 INFO Leader - Have quorum of supporters, sids: [[1, 2]]; starting up and setting last processed zxid: 0x%s"

	claim, ok := s.ReadLog(1, fmt.Sprintf(quorum, "300000000"))
	require.True(t, ok)
	require.Equal(t, election.Status{Role: election.Leader, Term: 3, Leader: 1}, claim)
	status, torn, alone := srvr(1, "leader", "300000000")
	require.Equal(t, claim, status)
	require.False(t, torn)
	require.True(t, alone, "it has processed nothing in its epoch")
	_, _, alone = srvr(1, "leader", "300000000")
	require.False(t, alone, "one session an epoch is enough")

	_, ok = s.ReadLog(2, "12:00:00.000 INFO Learner - Successfully connected to leader, using address: /10.0.0.1:2888")
	require.False(t, ok)
	status, _, _ = srvr(2, "follower", "200000007")
	require.Equal(t, election.Status{Term: 2}, status, "who led that epoch is not known")
	status, torn, _ = srvr(2, "follower", "300000001")
	require.Equal(t, election.Status{Term: 3, Leader: 1}, status)
	require.False(t, torn)

	status, torn, _ = srvr(2, "leader", "300000001") // elected in epoch 4, and has not said so yet
	require.Equal(t, election.Leader, status.Role)
	require.True(t, torn)
	_, ok = s.ReadLog(2, fmt.Sprintf(quorum, "400000000"))
	require.True(t, ok)
	status, torn, _ = srvr(2, "leader", "400000000")
	require.Equal(t, election.Status{Role: election.Leader, Term: 4, Leader: 2}, status)
	require.False(t, torn)

	status, torn, _, err = s.read(1, "This ZooKeeper instance is not currently serving requests\n")
	require.NoError(t, err)
	require.Equal(t, election.Candidate, status.Role)
	require.False(t, torn)
	_, _, _, err = s.read(1, "srvr is not executed because it is not in the whitelist.\n")
	require.ErrorContains(t, err, "whitelist")
}
