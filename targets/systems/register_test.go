package systems

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
)

func TestMainsKeepANumber(t *testing.T) {
	var y election.Storer = Register{}
	a := &asked{status: http.StatusOK, answer: "9223372036854775808\n"}
	dial, self := a.dial(t), election.Member{ID: 1}
	v, err := y.Get(t.Context(), self, nil, dial)
	require.NoError(t, err)
	require.Equal(t, uint64(1)<<63, v)
	require.Equal(t, "GET /register", a.what)
	require.NoError(t, y.Put(t.Context(), self, nil, 7, dial))
	require.Equal(t, "POST /register?value=7", a.what)

	a.status, a.answer = http.StatusConflict, "node is not the leader\n"
	err = y.Put(t.Context(), self, nil, 7, dial)
	require.ErrorContains(t, err, "node is not the leader")
	require.True(t, election.Certain(err))
	_, err = y.Get(t.Context(), self, nil, dial)
	require.True(t, election.Certain(err))

	// Nobody knows what became of it.
	a.status, a.answer = http.StatusServiceUnavailable, "leadership lost while committing log\n"
	err = y.Put(t.Context(), self, nil, 7, dial)
	require.EqualError(t, err, "/register answered 503: leadership lost while committing log")
	require.False(t, election.Certain(err))
	a.status, a.answer = http.StatusOK, "seven"
	_, err = y.Get(t.Context(), self, nil, dial)
	require.Error(t, err)
	require.False(t, election.Certain(err))

	nobody := func(context.Context, int) (net.Conn, error) { return nil, errors.New("connection refused") }
	require.True(t, election.Certain(y.Put(t.Context(), self, nil, 7, nobody)), "it was not asked")
	hangsUp := func(context.Context, int) (net.Conn, error) {
		ours, theirs := net.Pipe()
		return ours, theirs.Close()
	}
	err = y.Put(t.Context(), self, nil, 7, hangsUp)
	require.Error(t, err)
	require.False(t, election.Certain(err), "it may have been asked")
}
