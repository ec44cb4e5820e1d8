package cli

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

// A server that answers is asked as it is observed later: over TLS without a look at the certificate, and not where it sends one to.
func TestServersAreAskedForADraft(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"role":"follower"}`))
		case "/leader":
			http.Redirect(w, r, "/status", http.StatusTemporaryRedirect)
		case "/status":
			_, _ = w.Write([]byte(`{"role":"leader"}`))
		case "/secret":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	got, err := answersFrom(t.Context(), []string{server.URL + "/status", server.URL + "/busy"}, nil)
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t, http.StatusOK, got[0].Status)
	require.JSONEq(t, `{"role":"leader"}`, string(got[0].Text))
	require.Equal(t, http.StatusServiceUnavailable, got[1].Status)
	require.Equal(t, "/busy", got[1].URL.Path)

	_, err = answersFrom(t.Context(), []string{server.URL + "/leader"}, nil)
	require.ErrorContains(t, err, "307 Temporary Redirect to /status")
	require.Contains(t, hint.Of(err), "redirects are not followed")
	_, err = answersFrom(t.Context(), []string{server.URL + "/stauts"}, nil)
	require.ErrorContains(t, err, "404 Not Found")
	require.Contains(t, hint.Of(err), "name the path")
	_, err = answersFrom(t.Context(), []string{server.URL + "/secret"}, nil)
	require.ErrorContains(t, err, "401 Unauthorized")
	require.Contains(t, hint.Of(err), "observe has headers for it")
}
