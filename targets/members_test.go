package targets

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/internal/hint"
)

// What the servers that elect among themselves answer, and what is made of it.

// answering observes n1 of a target's system, whose port gives one answer.
func answering(t *testing.T, target string, given map[string]string, port, code int, answer string) (election.Status, bool, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(answer))
	}))
	defer server.Close()
	o := systemOf(t, target, given).Observer(etcdMembers()[0], etcdMembers(), func(ctx context.Context, p int) (net.Conn, error) {
		if p != port {
			return nil, fmt.Errorf("port %d is not the one that answers", p)
		}
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	})
	defer o.Close()
	return o.Observe(t.Context())
}

func systemOf(t *testing.T, name string, given map[string]string) election.System {
	t.Helper()
	target, err := Find(name)
	require.NoError(t, err)
	target = target.On(true, given)
	o, err := target.Parse(given)
	require.NoError(t, err)
	s, err := target.System(o)
	require.NoError(t, err)
	return s
}

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
			s, torn, err := answering(t, "nats", nil, 8222, 200, c.answer)
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
			s, _, err := answering(t, "nats", nil, 8222, c.code, c.answer)
			require.ErrorContains(t, err, "targets: nats: observe n1: ")
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
		s, torn, err := answering(t, "nats", old, 8222, 200, answer)
		require.NoError(t, err)
		require.False(t, torn)
		require.Equal(t, want, s)
	}
	target, err := Find("nats")
	require.NoError(t, err)
	for version, numbered := range map[string]bool{"2.9.25": false, "2.10.20": true} {
		o, err := target.Parse(map[string]string{"version": version})
		require.NoError(t, err)
		require.Equal(t, numbered, target.Numbered(o))
	}
	_, _, err = answering(t, "nats", old, 8222, 200, `{}`)
	require.ErrorContains(t, err, "the meta group has not started")
}

func TestNatsContainer(t *testing.T) {
	all := etcdMembers()
	c := systemOf(t, "nats", nil).Container(all[0], all)
	require.Contains(t, c.Command, "--routes=nats://10.77.0.12:6222,nats://10.77.0.13:6222")
	require.Contains(t, c.Command, "--name=n1")
	require.Contains(t, c.Command, "--cluster=nats://0.0.0.0:6222")
}

func TestHashicorpRaftObserve(t *testing.T) {
	s, torn, err := answering(t, "hashicorp-raft", nil, 7001, 200, `{"id":"n1","state":"Leader","term":4,"leader":"n1"}`)
	require.NoError(t, err)
	require.False(t, torn)
	require.Equal(t, election.Status{Role: election.Leader, Term: 4, Leader: 1}, s)
	_, torn, err = answering(t, "hashicorp-raft", nil, 7001, 200, `{"id":"n1","state":"Follower","term":4,"leader":"","torn":true}`)
	require.NoError(t, err)
	require.True(t, torn)
	for answer, want := range map[string]string{
		`{"id":"n2","state":"Leader","term":4,"leader":"n2"}`: `the answer is that of "n2"`,
		`{"id":"n1","state":"Shutdown","term":4}`:             `raft state "Shutdown" is none of those known`,
	} {
		_, _, err := answering(t, "hashicorp-raft", nil, 7001, 200, answer)
		require.ErrorContains(t, err, want)
	}
}

func TestDragonboatObserve(t *testing.T) {
	s, _, err := answering(t, "dragonboat", nil, 7001, 200, `{"id":1,"term":4,"leader":1}`)
	require.NoError(t, err)
	require.Equal(t, election.Status{Role: election.Leader, Term: 4, Leader: 1}, s)
	s, _, err = answering(t, "dragonboat", nil, 7001, 200, `{"id":1,"term":4,"leader":0}`)
	require.NoError(t, err)
	require.Equal(t, election.Status{Term: 4}, s)
	for answer, want := range map[string]string{
		`{"id":2,"term":4,"leader":2}`: "the answer is that of n2",
		`{"id":1,"term":0,"leader":0}`: "raft has not started", // its term may be on disk: 0 would seem to go down
	} {
		_, _, err := answering(t, "dragonboat", nil, 7001, 200, answer)
		require.ErrorContains(t, err, want)
	}
}

// Members print their own views among the lines of the libraries' logs.
func TestMembersLogs(t *testing.T) {
	for _, c := range []struct {
		target, line string
		want         election.Status
		announces    bool
	}{
		{"hashicorp-raft", `{"id":"n1","state":"Candidate","term":4,"leader":""}`, election.Status{Role: election.Candidate, Term: 4}, true},
		{"hashicorp-raft", `{"id":"n2","state":"Leader","term":4,"leader":"n2"}`, election.Status{}, false},
		{"hashicorp-raft", `[INFO]  raft: entering leader state: leader="Node at 10.0.0.1:7000 [Leader]"`, election.Status{}, false},
		{"hashicorp-raft", `{"id":`, election.Status{}, false},
		{"dragonboat", `{"id":1,"term":2,"leader":3}`, election.Status{Term: 2, Leader: 3}, true},
		{"dragonboat", `{"id":1,"term":0,"leader":0}`, election.Status{}, false},
		{"dragonboat", `INFO | raft: [f:1,l:1,t:1,c:1,a:1] became leader`, election.Status{}, false},
	} {
		s, ok := systemOf(t, c.target, nil).(election.LogReader).ReadLog(1, c.line)
		require.Equal(t, c.announces, ok, c.line)
		require.Equal(t, c.want, s, c.line)
	}
}

func TestMembersRefuse(t *testing.T) {
	for _, c := range []struct{ target, option, value, hint string }{
		{"nats", "version", "2.8.4", "known: all from 2.9.0 on"},
		{"nats", "version", "2.10", "known: "},
		{"hashicorp-raft", "version", "1.8.0", "known: all from 1.3.9 to 1.7"},
		{"hashicorp-raft", "election-timeout", "500ms", "no shorter"},
		{"dragonboat", "version", "4.0.0", "known: commits"},
		{"dragonboat", "election-rtt", "2", "from 3 to 1000"},
	} {
		target, err := Find(c.target)
		require.NoError(t, err)
		o, err := target.Parse(map[string]string{c.option: c.value})
		require.NoError(t, err)
		_, err = target.System(o)
		require.ErrorContains(t, err, "targets: "+c.target+": option")
		require.Contains(t, hint.Of(err), c.hint)
	}
}

// What a version does not give is not promised of it.
func TestMembersPromises(t *testing.T) {
	for _, c := range []struct {
		target, given, property string
		promised                bool
	}{
		{"nats", "", "single-leader-per-term", true},
		{"nats", "version=2.10.27", "monotonic-term", true},
		{"nats", "version=2.10.20", "monotonic-term", false},
		{"nats", "", "sticky-leader", false},
		{"hashicorp-raft", "", "sticky-leader", true},
		{"hashicorp-raft", "version=1.6.1", "sticky-leader", false},
		{"hashicorp-raft", "version=1.6.1", "single-leader-per-term", true},
		{"dragonboat", "", "sticky-leader", false},
		{"dragonboat", "pre-vote=false", "bounded-terms", false},
		{"dragonboat", "check-quorum=false", "elects", false},
		{"etcd-raft", "check-quorum=false", "elects", false},
		{"etcd-raft", "pre-vote=false", "elects", true},
	} {
		target, err := Find(c.target)
		require.NoError(t, err)
		given := map[string]string{}
		if k, v, ok := strings.Cut(c.given, "="); ok {
			given[k] = v
		}
		o, err := target.Parse(given)
		require.NoError(t, err)
		promised, _ := target.Promised(o, c.property)
		require.Equal(t, c.promised, promised, "%s %s: %s", c.target, c.given, c.property)
	}
}
