package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"recount/harness/campaign/cluster"
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

// Who comes back to a campaign speaks to the cluster that was asked, whichever kubectl speaks to by then, and is told if its Job is gone.
func TestTheClusterThatWasAskedIsAsked(t *testing.T) {
	jobs := 1
	ours := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if filepath.Base(filepath.Dir(r.URL.Path)) == "jobs" && jobs > 0 {
			jobs--
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Success"}`)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	}))
	defer ours.Close()
	theirs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Error("asked for", r.URL) }))
	defer theirs.Close()
	results := t.TempDir()
	kubeconfig := filepath.Join(results, "kubeconfig")
	config := func(current, a, b string) {
		require.NoError(t, os.WriteFile(kubeconfig, fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","current-context":%q,
			"clusters":[{"name":"a","cluster":{"server":%q}},{"name":"b","cluster":{"server":%q}}],
			"contexts":[{"name":"a","context":{"cluster":"a"}},{"name":"b","context":{"cluster":"b"}}]}`, current, a, b), 0o644))
	}
	t.Setenv("KUBECONFIG", kubeconfig)
	config("a", ours.URL, theirs.URL)
	client, err := cluster.Dial("", "", "")
	require.NoError(t, err)
	require.Equal(t, "a", client.Context)
	at := atCluster{Job: "recount-nightly-1", Namespace: "ours", Context: client.Context, Host: client.Host, Store: filepath.Join(results, "store")}
	require.NoError(t, at.write(filepath.Join(results, "campaigns", "nightly")))

	config("b", ours.URL, theirs.URL)
	for _, want := range []string{"Job recount-nightly-1 is ended; what", "has no Job recount-nightly-1 in namespace ours; what"} {
		var out bytes.Buffer
		require.Equal(t, 0, run([]string{"campaign", "stop", "nightly", "--results", results}, &out, &out), out.String())
		require.Contains(t, out.String(), want)
	}
	config("a", theirs.URL, ours.URL)
	var out bytes.Buffer
	require.Equal(t, 255, run([]string{"campaign", "stop", "nightly", "--results", results}, &out, &out))
	require.Contains(t, out.String(), fmt.Sprintf(`context "a" is the cluster at %s, and Job recount-nightly-1 is at %s`, theirs.URL, ours.URL))
	require.Contains(t, out.String(), "hint: name the file that has it")
}
