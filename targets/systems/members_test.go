package systems

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
)

// asked is a main that answers one thing, and what it was asked last.
type asked struct {
	what   string
	status int
	answer string
}

func (a *asked) dial(t *testing.T) election.Dial {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.what = r.Method + " " + r.URL.String()
		w.WriteHeader(a.status)
		fmt.Fprint(w, a.answer)
	}))
	t.Cleanup(server.Close)
	return func(ctx context.Context, port int) (net.Conn, error) {
		require.Equal(t, StatusPort, port)
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
}

// Who is added has a number that none of its name had, and is started as what it was added as, also when the answer came to a later
// question.
func TestMainsAreAskedToChangeMembers(t *testing.T) {
	var s Members
	a := &asked{status: http.StatusOK, answer: `{"number": 0}`}
	dial := a.dial(t)
	ask := func(as election.Membership) error {
		return s.Reconfigure(t.Context(), election.Member{ID: 1}, nil, 3, as, dial)
	}
	require.NoError(t, ask(election.Removed))
	require.Equal(t, "POST /members?who=3&as=removed&number=0", a.what)
	require.Empty(t, s.Joining(3), "it is the one of the beginning")

	a.status = http.StatusServiceUnavailable
	require.False(t, election.Certain(ask(election.Learner)), "nobody knows")
	require.Equal(t, "POST /members?who=3&as=learner&number=1", a.what)
	a.status = http.StatusOK
	a.answer = `{"number": 1}`
	require.NoError(t, ask(election.Learner))
	require.Equal(t, "POST /members?who=3&as=learner&number=1", a.what, "it may be one by now, and nobody else is")
	require.Equal(t, []string{"--number=1", "--join=learner"}, s.Joining(3))
	require.NoError(t, ask(election.Voter), "promoted")
	require.Equal(t, []string{"--number=1", "--join=learner"}, s.Joining(3))
	require.NoError(t, ask(election.Removed))
	a.answer = `{"number": 2}`
	require.NoError(t, ask(election.Voter))
	require.Equal(t, "POST /members?who=3&as=voter&number=2", a.what)
	require.Equal(t, []string{"--number=2", "--join=voter"}, s.Joining(3))
	require.Empty(t, s.Joining(2))

	a.status, a.answer = http.StatusConflict, "why\n"
	require.ErrorIs(t, ask(election.Removed), election.ErrNotYet)
	a.status = http.StatusBadRequest
	err := ask(election.Removed)
	require.ErrorIs(t, err, election.ErrRefused)
	require.NotErrorIs(t, err, election.ErrNotYet)
	a.status, a.answer = http.StatusOK, "why"
	require.False(t, election.Certain(ask(election.Removed)))
}

func TestMainsTellWhomTheyTakeForMembers(t *testing.T) {
	var s Members
	a := &asked{status: http.StatusOK, answer: `[{"who":1,"number":0,"as":"voter"},{"who":3,"number":2,"as":"learner"}]`}
	dial := a.dial(t)
	for who, as := range map[election.ID]election.Membership{1: election.Voter, 2: election.Removed, 3: election.Learner} {
		is, err := s.Membership(t.Context(), election.Member{ID: 1}, nil, who, dial)
		require.NoError(t, err)
		require.Equal(t, as, is)
		require.Equal(t, "GET /members", a.what)
	}
	a.status = http.StatusServiceUnavailable
	_, err := s.Membership(t.Context(), election.Member{ID: 1}, nil, 1, dial)
	require.Error(t, err)
}
