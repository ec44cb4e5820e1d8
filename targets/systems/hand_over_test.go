package systems

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
)

func TestMainsAreAskedToHandOver(t *testing.T) {
	asked, status := "", http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.String()
		http.Error(w, "why", status)
	}))
	defer server.Close()
	all := []election.Member{{ID: 1}, {ID: 2}, {ID: 3}}
	ask := func(name func(election.Member) string, heir election.ID) error {
		return HandOver(7001, name)(t.Context(), all[0], all, heir, func(ctx context.Context, port int) (net.Conn, error) {
			require.Equal(t, 7001, port)
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		})
	}
	require.NoError(t, ask(ByName, election.None))
	require.Equal(t, "POST /hand-over", asked)
	require.NoError(t, ask(ByName, 2))
	require.Equal(t, "POST /hand-over?to=n2", asked)
	require.NoError(t, ask(ByNumber, 3))
	require.Equal(t, "POST /hand-over?to=3", asked)
	status = http.StatusConflict
	require.ErrorIs(t, ask(ByName, election.None), election.ErrNotLeader)
	status = http.StatusBadRequest
	require.ErrorIs(t, ask(ByName, election.None), election.ErrRefused)
	status = http.StatusServiceUnavailable
	err := ask(ByName, election.None)
	require.EqualError(t, err, "/hand-over answered 503: why")
	require.NotErrorIs(t, err, election.ErrRefused, "nobody knows")
}
