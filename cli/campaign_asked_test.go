package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

// While a Job makes one edition of a campaign, another does not take its place: nobody would find the first again.
func TestAnotherEditionWaits(t *testing.T) {
	status := `{"conditions":[]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/apis/batch/v1/namespaces/ours/jobs/recount-nightly-1", r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"Job","apiVersion":"batch/v1","status":%s}`, status)
	}))
	defer server.Close()
	results := t.TempDir()
	kubeconfig := filepath.Join(results, "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","current-context":"c",
		"clusters":[{"name":"c","cluster":{"server":%q}}],"contexts":[{"name":"c","context":{"cluster":"c"}}]}`, server.URL), 0o644))
	first := atCluster{Job: "recount-nightly-1", State: jobAsked, Namespace: "ours", Kubeconfig: kubeconfig}
	second := atCluster{Job: "recount-nightly-2"}
	require.NoError(t, second.free(t.Context(), results, "nightly"))
	require.NoError(t, first.write(filepath.Join(results, "campaigns", "nightly")))
	require.NoError(t, first.free(t.Context(), results, "nightly"))
	err := second.free(t.Context(), results, "nightly")
	require.EqualError(t, err, "another edition of nightly runs as Job recount-nightly-1")
	require.Contains(t, hint.Of(err), "campaign attach nightly")
	status = `{"conditions":[{"type":"Complete","status":"True"}]}`
	require.NoError(t, second.free(t.Context(), results, "nightly"))
	server.Close()
	err = second.free(t.Context(), results, "nightly")
	require.ErrorContains(t, err, "does not answer")
	require.Contains(t, hint.Of(err), "cluster.json")
}
