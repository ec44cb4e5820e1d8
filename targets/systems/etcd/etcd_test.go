package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/internal/hint"
	"recount/targets"
)

// testdata/etcd holds, by version, what real servers said: three members in containers, of which n2 was left alone for
// four seconds, the others standing still, and was killed and started again later. The .json files are whole answers of
// /debug/vars, the .log files all lines that raft wrote, and the .views files what the lines above them announce.
var etcdRecorded = []string{"3.4.23", "3.5.35", "3.6.16"}

func etcdMembers() []election.Member {
	var all []election.Member
	for n := byte(1); n <= 3; n++ {
		all = append(all, election.Member{ID: election.ID(n), Name: election.ID(n).String(), Addr: netip.AddrFrom4([4]byte{10, 77, 0, 10 + n})})
	}
	return all
}

func etcdWith(t *testing.T, given map[string]string) (*targets.Target, targets.Options, *system) {
	t.Helper()
	target, err := targets.Find("etcd")
	require.NoError(t, err)
	o, err := target.Parse(given)
	require.NoError(t, err)
	s, err := target.System(o)
	require.NoError(t, err)
	return target, o, s.(*system)
}

func TestEtcdObserve(t *testing.T) {
	type who struct {
		file string
		self election.ID
	}
	for _, version := range etcdRecorded {
		alone := election.Status{Role: election.Candidate, Term: 2}
		if version == "3.4.23" {
			alone.Term = 5 // without pre-vote each attempt to be elected takes a new term
		}
		for at, want := range map[who]election.Status{
			{"leader.json", 1}:    {Role: election.Leader, Term: 2, Leader: 1},
			{"follower.json", 2}:  {Role: election.Follower, Term: 2, Leader: 1},
			{"candidate.json", 2}: alone,
		} {
			t.Run(version+"/"+at.file, func(t *testing.T) {
				answer, err := os.ReadFile(filepath.Join("testdata", "etcd", version, at.file))
				require.NoError(t, err)
				got, err := observeEtcd(t, at.self, http.StatusOK, string(answer))
				require.NoError(t, err)
				require.Equal(t, want, got)
			})
		}
	}
}

// An answer that cannot be understood, or is somebody else's, is no view.
func TestEtcdObserveRefuses(t *testing.T) {
	const n1, stranger = "43472e8f14759bdb", "1234"
	status := func(id, lead, state string) string {
		return fmt.Sprintf(`{"raft.status": {"id": %q, "term": 2, "lead": %q, "raftState": %q}}`, id, lead, state)
	}
	_, err := observeEtcd(t, 1, http.StatusOK, status(n1, n1, "StateLeader"))
	require.NoError(t, err, "the answer that the others differ from")

	for name, c := range map[string]struct {
		code         int
		answer, want string
	}{
		"starting":       {200, `{"raft.status": null}`, "raft has not started"},
		"no status":      {200, `{}`, "raft has not started"},
		"not JSON":       {200, `raft`, "invalid character"},
		"cut short":      {200, `{"raft.status": {`, "unexpected end"},
		"not found":      {404, `404 page not found`, "404 Not Found"},
		"unknown state":  {200, status(n1, n1, "StateObserver"), `raft state "StateObserver" is none of those known`},
		"unknown leader": {200, status(n1, stranger, "StateFollower"), `raft id "1234" is none of the members'`},
		"somebody else":  {200, status("f12be680d565b0da", n1, "StateFollower"), "the answer is that of raft id"},
		"no raft id":     {200, status("n1", n1, "StateLeader"), `raft id "n1" is no hexadecimal number`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := observeEtcd(t, 1, c.code, c.answer)
			require.ErrorContains(t, err, "etcd: observe n1: ")
			require.ErrorContains(t, err, c.want)
			require.Zero(t, s)
		})
	}
}

// A server of a service is called as in the history, s1, though its number is one after those of the nodes.
func TestEtcdObserveNamesAServerOfAService(t *testing.T) {
	_, _, s := etcdWith(t, nil)
	all := etcdMembers()
	all[0].Name = "s1"
	o := s.Observer(all[0], all, func(context.Context, int) (net.Conn, error) { return nil, io.ErrUnexpectedEOF })
	defer o.Close()
	_, _, err := o.Observe(t.Context())
	require.ErrorContains(t, err, "etcd: observe s1: ")
}

// observeEtcd observes a server that gives one answer, twice, over one connection.
func observeEtcd(t *testing.T, self election.ID, code int, answer string) (election.Status, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/debug/vars" {
			http.NotFound(w, r)
			return
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(answer))
	}))
	defer server.Close()
	var dials atomic.Int32
	dial := func(ctx context.Context, port int) (net.Conn, error) {
		dials.Add(1)
		if port != 2379 {
			return nil, fmt.Errorf("port %d is not the clients'", port)
		}
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
	_, _, s := etcdWith(t, nil)
	all := etcdMembers()
	o := s.Observer(all[self-1], all, dial)
	defer o.Close()
	first, torn, firstErr := o.Observe(t.Context())
	require.False(t, torn)
	second, _, err := o.Observe(t.Context())
	require.Equal(t, first, second)
	require.Equal(t, firstErr == nil, err == nil)
	if code == http.StatusOK {
		require.EqualValues(t, 1, dials.Load(), "the connection is kept")
	}
	return second, err
}

func TestEtcdObserveDialFails(t *testing.T) {
	_, _, s := etcdWith(t, nil)
	all := etcdMembers()
	down := errors.New("the node is down")
	o := s.Observer(all[0], all, func(context.Context, int) (net.Conn, error) { return nil, down })
	_, _, err := o.Observe(t.Context())
	require.ErrorIs(t, err, down)
	require.NoError(t, o.Close())
}

func TestEtcdReadLog(t *testing.T) {
	for _, version := range etcdRecorded {
		for _, self := range []election.ID{1, 2} {
			name := filepath.Join("testdata", "etcd", version, self.String())
			t.Run(version+"/"+self.String(), func(t *testing.T) {
				log, err := os.ReadFile(name + ".log")
				require.NoError(t, err)
				views, err := os.ReadFile(name + ".views")
				require.NoError(t, err)
				_, _, s := etcdWith(t, nil)
				s.Container(etcdMembers()[0], etcdMembers()) // from here it knows the members

				var got strings.Builder
				for line := range strings.Lines(string(log)) {
					if v, ok := s.ReadLog(self, line); ok {
						role := [...]string{"follower", "candidate", "leader"}[v.Role]
						fmt.Fprintln(&got, strings.TrimSpace(fmt.Sprint(role, " ", v.Term, " ", v.Leader)))
					}
				}
				require.Equal(t, string(views), got.String())
			})
		}
	}
}

func TestEtcdReadLogIgnores(t *testing.T) {
	_, _, s := etcdWith(t, nil)
	s.meet(etcdMembers())
	const n1, n2 = "43472e8f14759bdb", "f12be680d565b0da"
	line := func(msg string) string { return fmt.Sprintf(`{"level":"info","msg":%q}`, msg) }

	v, ok := s.ReadLog(1, line("raft.node: "+n1+" changed leader from 8c61aecea585d2e2 to "+n2+" at term 7"))
	require.True(t, ok)
	require.Equal(t, election.Status{Role: election.Follower, Term: 7, Leader: 2}, v)

	for name, l := range map[string]string{
		"empty":                "",
		"not JSON":             n1 + " became leader at term 5",
		"not a change":         line(n1 + " received MsgVoteResp from " + n2 + " at term 5"),
		"lost leader":          line("raft.node: " + n1 + " lost leader " + n2 + " at term 5"),
		"another's":            line(n2 + " became leader at term 5"),
		"a stranger's":         line("1234 became leader at term 5"),
		"elected a stranger":   line("raft.node: " + n1 + " elected leader 1234 at term 5"),
		"said already":         line("raft.node: " + n1 + " elected leader " + n1 + " at term 5"),
		"quoted by a client":   line("put: " + n1 + " became leader at term 5"),
		"term without measure": line(n1 + " became leader at term 99999999999999999999"),
	} {
		_, ok := s.ReadLog(1, l)
		require.False(t, ok, name)
	}
}

// The version and an explicit choice decide together whether pre-vote is on, and that what is promised.
func TestEtcdPreVote(t *testing.T) {
	for _, c := range []struct {
		version, choice string
		on              bool
	}{
		{"3.4.23", "default", false},
		{"3.4.23", "true", true},
		{"3.4.15", "default", false},
		{"3.5.0", "default", true},
		{"3.6.16", "default", true},
		{"3.6.16", "false", false},
		{"3.7.3", "default", true},
	} {
		t.Run(c.version+" "+c.choice, func(t *testing.T) {
			target, o, s := etcdWith(t, map[string]string{"version": c.version, "pre-vote": c.choice})
			command := s.Container(etcdMembers()[0], etcdMembers()).Command
			require.Contains(t, command, fmt.Sprintf("--pre-vote=%v", c.on))
			for _, property := range []string{"sticky-leader", "no-ping-pong", "bounded-terms"} {
				promised, _ := target.Promised(o, property)
				require.Equal(t, c.on, promised, property)
			}
			for _, property := range []string{"single-leader-per-term", "monotonic-term", "elects"} {
				promised, _ := target.Promised(o, property)
				require.True(t, promised, property)
			}
			promised, _ := target.Promised(o, "exclusive-leadership")
			require.False(t, promised)
		})
	}
}

func TestEtcdContainer(t *testing.T) {
	_, _, s := etcdWith(t, map[string]string{"version": "3.5.35", "heartbeat": "20ms", "election-timeout": "300ms"})
	require.Equal(t, election.Image{Recipe: "etcd", Version: "3.5.35"}, s.Image())
	all := []election.Member{
		{ID: 1, Addr: netip.MustParseAddr("fd00::1")},
		{ID: 2, Addr: netip.MustParseAddr("fd00::2")},
	}
	c := s.Container(all[1], all)
	require.Subset(t, c.Command, []string{
		"--name=n2",
		"--listen-client-urls=http://[::]:2379",
		"--initial-advertise-peer-urls=http://[fd00::2]:2380",
		"--initial-cluster=n1=http://[fd00::1]:2380,n2=http://[fd00::2]:2380",
		"--heartbeat-interval=20",
		"--election-timeout=300",
	})
}

func TestEtcdRefusesOptions(t *testing.T) {
	target, err := targets.Find("etcd")
	require.NoError(t, err)
	for _, c := range []struct{ option, value, want string }{
		{"version", "latest", `option version: "latest" is no version of etcd that Recount runs`},
		{"version", "3.3.10", `"3.3.10"`},
		{"version", "v3.6.16", `"v3.6.16"`},
		{"heartbeat", "10us", "option heartbeat: 10µs is too short"},
		{"election-timeout", "400ms", "option election-timeout: 400ms is too short for a heartbeat of 100ms"},
		{"election-timeout", "51s", "option election-timeout: 51s is too long"},
	} {
		o, err := target.Parse(map[string]string{c.option: c.value})
		require.NoError(t, err)
		_, err = target.System(o)
		require.ErrorContains(t, err, "etcd: ")
		require.ErrorContains(t, err, c.want)
		require.NotEmpty(t, hint.Of(err))
	}
}
