package etcd

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
)

// administered is a server that lists its members, and answers to what is asked for.
type administered struct {
	members string // as JSON, on both ports
	code    int
	answer  string
	asked   []string
}

func (a *administered) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch r.URL.Path {
	case "/members":
		fmt.Fprintf(w, "[%s]", a.members)
	case "/v3/cluster/member/list":
		fmt.Fprintf(w, `{"header":{},"members":[%s]}`, a.members)
	default:
		a.asked = append(a.asked, strings.TrimPrefix(r.URL.Path, "/v3/cluster/member/")+" "+string(body))
		w.WriteHeader(a.code)
		fmt.Fprint(w, a.answer)
	}
}

// listed is a member as lists have it.
func listed(id uint64, m election.Member, learner, joined bool) string {
	s := fmt.Sprintf(`{"ID":"%d","name":"n%d","peerURLs":[%q]`, id, m.ID, URL(m.Addr, peerPort))
	if learner {
		s += `,"isLearner":true`
	}
	if joined {
		s += fmt.Sprintf(`,"clientURLs":[%q]`, URL(m.Addr, ClientPort))
	}
	return s + "}"
}

func (a *administered) dial(t *testing.T) election.Dial {
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return func(ctx context.Context, _ int) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
}

func (a *administered) reconfigure(t *testing.T, s *system, who election.ID, as election.Membership) error {
	all := etcdMembers()
	return s.Reconfigure(t.Context(), all[0], all, who, as, a.dial(t))
}

func TestEtcdChangesItsMembers(t *testing.T) {
	_, _, s := etcdWith(t, nil)
	all := etcdMembers()
	one, two, three := listed(1, all[0], false, true), listed(2, all[1], false, true), listed(3, all[2], false, true)

	a := &administered{members: one + "," + two + "," + three, code: 200, answer: `{"members":[]}`}
	require.NoError(t, a.reconfigure(t, s, 3, election.Removed))
	require.NoError(t, a.reconfigure(t, s, 3, election.Voter), "it is one")
	require.ErrorIs(t, a.reconfigure(t, s, 3, election.Learner), election.ErrRefused)
	require.Equal(t, []string{`remove {"ID":"3"}`}, a.asked)

	newcomer := listed(0xabc, all[2], true, false)
	a = &administered{members: one + "," + two, code: 200, answer: `{"member":` + newcomer + `,"members":[` + one + "," + two + "," + newcomer + `]}`}
	require.NoError(t, a.reconfigure(t, s, 3, election.Removed), "it is none")
	require.NoError(t, a.reconfigure(t, s, 3, election.Learner))
	require.Equal(t, []string{fmt.Sprintf(`add {"peerURLs":[%q],"isLearner":true}`, URL(all[2].Addr, peerPort))}, a.asked)
	started := strings.Join(s.Container(all[2], all).Command, " ")
	require.Contains(t, started, "--data-dir=/data/etcd-abc ")
	require.Contains(t, started, "--initial-cluster-state=existing")
	require.Contains(t, started, fmt.Sprintf("--initial-cluster=n1=%s,n2=%s,n3=%s ", URL(all[0].Addr, peerPort), URL(all[1].Addr, peerPort), URL(all[2].Addr, peerPort)))
	require.Contains(t, strings.Join(s.Container(all[1], all).Command, " "), "--initial-cluster-state=new")

	a = &administered{members: one + "," + two + "," + newcomer, code: 200, answer: `{}`}
	require.NoError(t, a.reconfigure(t, s, 3, election.Voter))
	require.Equal(t, []string{`promote {"ID":"2748"}`}, a.asked)
	is, err := s.Membership(t.Context(), all[0], all, 3, a.dial(t))
	require.NoError(t, err)
	require.Equal(t, election.Learner, is)
}

// Whoever was added by a question that got no answer is started as that member.
func TestEtcdFindsWhoWasAdded(t *testing.T) {
	_, _, s := etcdWith(t, nil)
	all := etcdMembers()
	a := &administered{members: listed(1, all[0], false, true) + "," + listed(0xdef, all[2], false, false)}
	require.NoError(t, a.reconfigure(t, s, 3, election.Voter))
	started := strings.Join(s.Container(all[2], all).Command, " ")
	require.Contains(t, started, "--data-dir=/data/etcd-def ")
	require.Contains(t, started, fmt.Sprintf("--initial-cluster=n1=%s,n3=%s ", URL(all[0].Addr, peerPort), URL(all[2].Addr, peerPort)))
}

func TestEtcdAnswersAboutMembers(t *testing.T) {
	for _, c := range []struct {
		answer         string
		certain, later bool
	}{
		{`{"code":9,"message":"etcdserver: can only promote a learner member which is in sync with leader"}`, true, true},
		{`{"code":14,"message":"etcdserver: unhealthy cluster"}`, true, true},
		{`{"error":"etcdserver: re-configuration failed due to not enough started members","code":9}`, true, true},
		{`{"code":5,"message":"etcdserver: member not found"}`, true, false},
		{`{"code":14,"message":"etcdserver: request timed out"}`, false, false},
		{`nothing that is JSON`, false, false},
	} {
		_, _, s := etcdWith(t, nil)
		a := &administered{members: listed(3, etcdMembers()[2], false, true), code: 500, answer: c.answer}
		err := a.reconfigure(t, s, 3, election.Removed)
		require.Error(t, err)
		require.Equal(t, c.certain, election.Certain(err), c.answer)
		if c.later {
			require.ErrorIs(t, err, election.ErrNotYet)
		} else {
			require.NotErrorIs(t, err, election.ErrNotYet)
		}
	}
}

// A cluster begins with its voters. Learners are told of all when all were added, and nobody hands over to them.
func TestEtcdLearnersAreAdded(t *testing.T) {
	_, _, s := etcdWith(t, map[string]string{"voters": "1"})
	all := etcdMembers()
	has := func(id election.ID, text string) bool {
		return strings.Contains(strings.Join(s.Container(all[id-1], all).Command, " "), text)
	}
	url := func(id election.ID) string { return id.String() + "=" + URL(all[id-1].Addr, peerPort) }
	require.True(t, s.Founds(1))
	require.False(t, s.Founds(2))
	require.True(t, has(1, "--initial-cluster="+url(1)+" --initial-cluster-state=new"))
	require.True(t, has(1, "--max-learners="))

	one, two, three := listed(raftID(all[0]), all[0], false, true), listed(0xabc, all[1], true, false), listed(0xdef, all[2], true, false)
	a := &administered{members: one, code: 200, answer: `{"members":[` + one + "," + two + `]}`}
	require.NoError(t, a.reconfigure(t, s, 2, election.Learner))
	a = &administered{members: one + "," + two, code: 200, answer: `{"members":[` + one + "," + two + "," + three + `]}`}
	require.NoError(t, a.reconfigure(t, s, 3, election.Learner))
	for _, id := range []election.ID{2, 3} {
		require.True(t, has(id, "--initial-cluster="+url(1)+","+url(2)+","+url(3)+" --initial-cluster-state=existing"))
	}
	require.True(t, s.votes(raftID(all[0])))
	require.False(t, s.votes(0xabc))
	require.EqualValues(t, 0xdef, s.raftOf(all[2]))

	_, _, s = etcdWith(t, nil)
	require.False(t, has(1, "--max-learners="), "who has no learners is started as ever")
}
